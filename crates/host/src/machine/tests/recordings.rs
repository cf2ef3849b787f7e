//! Random recordings on the machine.

use std::collections::BTreeMap;
use std::io::Cursor;

use dram_spec::address::FRAME_BYTES;
use memctrl::policy::copy::{BASELINE, CONTROLLER_COPY, PSM_ONLY};
use proptest::prelude::*;
use trace_io::recording::{Event, MapFlags, ObjectAddress, RecordingReader, Routine, Word};

use super::virtual_addresses::played;
use super::*;
use crate::machine::programs::recording::tests::{TestBlock, access, recording};

const PAGE: u64 = FRAME_BYTES;

/// A recording while it is written: its blocks, and the mapped pages of each process that lives.
#[derive(Default)]
struct Draft {
    blocks: Vec<TestBlock>,
    pages: BTreeMap<u32, Vec<u64>>,
    /// Number of the next process.
    next: u32,
}

impl Draft {
    fn block(&mut self, process: u32, words: impl IntoIterator<Item = u64>) {
        self.blocks.push((1 + process % 2, process, words.into_iter().collect(), Vec::new()));
    }

    fn event(&mut self, process: u32, event: Event) {
        self.block(process, event.words());
    }

    /// Maps the next of 16 pages, or replaces it.
    fn map(&mut self, process: u32, page: u64, object: u64, is_shared: bool) {
        let flags = MapFlags { is_writable: true, is_shared };
        let of = ObjectAddress { object, address: page % 2 * PAGE };
        self.event(process, Event::Map { flags, address: page * PAGE, bytes: 2 * PAGE, of });
        let pages = self.pages.get_mut(&process).expect("it lives");
        pages.extend([page, page + 1]);
    }

    /// Adds what a kind and some numbers choose.
    fn add(&mut self, [kind, who, near, far, size]: [u64; 5]) {
        let Some((&process, pages)) = self.pages.iter().nth(who as usize % self.pages.len().max(1)) else { return };
        let page = |number: u64| pages[number as usize % pages.len()];
        let (dst, src) = (page(near) * PAGE + far % PAGE / 8 * 8, page(far) * PAGE + near % PAGE / 8 * 8);
        // Within a page: pages that follow may be mapped to others.
        let bytes = (1 + size % 300).min(PAGE - dst % PAGE).min(PAGE - src % PAGE);
        let of_process = |address: u64| ObjectAddress { object: ObjectAddress::PROCESS, address };
        let file = ObjectAddress { object: 1 + size % 2, address: far % (3 * PAGE) };
        let pipe = ObjectAddress { object: ObjectAddress::STREAMS, address: far * 61 % (1 << 20) };
        match kind % 16 {
            0..4 => self.block(process, [access(kind % 2 == 0, dst, (size % 4) as u8, (near % 3) as u16)]),
            4 => self.block(process, [Word::Instructions(1 + size).bits()]),
            5 => self.map(process, 16 + near % 16, 0, false),
            6 => self.map(process, 16 + near % 16, 1 + far % 2, size % 2 == 0),
            7 => self.event(process, Event::Unmap { address: page(near) * PAGE, bytes: 1 }),
            8 => self.event(process, Event::Discard { address: page(near) * PAGE, bytes: 1 }),
            9 => {
                let (from, to) = (page(near), 64 + far % 16);
                self.event(process, Event::Move { from: from * PAGE, to: to * PAGE, bytes: PAGE });
                self.pages.get_mut(&process).expect("it lives").push(to);
            }
            10 => self.event(process, Event::Read { of: file, bytes: PAGE }),
            11 => self.event(process, Event::Copy { dst: of_process(dst), src: file, bytes }),
            12 => self.event(process, Event::Copy { dst: pipe, src: of_process(src), bytes }),
            13 => {
                let whole = (page(far) * PAGE, page(near) * PAGE, PAGE);
                let (routine, (src, dst, bytes)) = match size % 5 {
                    0 => (Routine::Set { value: 0 }, (src, dst, bytes)),
                    1 => (Routine::ClearPage, whole),
                    2 => (Routine::CopyPage { src: whole.0 }, whole),
                    _ => (Routine::Move { src }, (src, dst, bytes)),
                };
                self.event(process, Event::Call { routine, dst, bytes });
                self.block(process, [access(false, src, 0, 2), access(true, dst, 0, 1)]);
                self.event(process, Event::Return);
            }
            14 => {
                let child = self.next;
                self.next += 1;
                self.event(process, Event::Fork { process: child });
                let pages = self.pages[&process].clone();
                self.pages.insert(child, pages);
            }
            _ if self.pages.len() > 1 => {
                self.event(process, Event::Exit);
                self.pages.remove(&process);
            }
            _ => self.event(process, Event::Zero { dst: file, bytes }),
        }
    }
}

fn arb_recording() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<[u16; 5]>(), 1..60).prop_map(|numbers| {
        let mut draft = Draft { pages: BTreeMap::from([(1, Vec::new())]), next: 2, ..Draft::default() };
        draft.event(1, Event::Create { process: 1 });
        draft.map(1, 16, 0, false);
        for numbers in numbers {
            draft.add(numbers.map(u64::from));
        }
        recording(&draft.blocks, false)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Under each policy, whatever copies are chosen, loads and processes read right data; a second run makes
    /// equal requests.
    #[test]
    fn random_recordings_run_with_right_loads(bytes in arb_recording(), choice in 0_usize..3) {
        for policy in [BASELINE, CONTROLLER_COPY, PSM_ONLY, ROWCLONE] {
            let copies = ChosenCopies::ALL[choice];
            let settings = RecordingSettings { copies, is_by_cpu: policy == BASELINE };
            let run = || {
                let reader = RecordingReader::new(Cursor::new(bytes.clone())).unwrap();
                let (requests, outcome) =
                    played(CopyUnit::Page, policy, Box::new(RecordedProgram::new(reader, settings).unwrap()));
                let outcome = outcome.unwrap();
                prop_assert_eq!((outcome.wrong, outcome.check.map(|(_, wrong)| wrong)), (None, Some(None)));
                Ok(requests)
            };
            prop_assert_eq!(run()?, run()?);
        }
    }
}
