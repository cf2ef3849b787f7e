//! Times of copies by a DMA engine, by hand.

use memctrl::policy::copy::BASELINE;
use trace_io::program::{DeviceStep, InstructionClass};

use super::coherent::BUS;
use super::*;

fn with(dma: DmaSettings) -> MachineSettings {
    let last_level = CacheShape { bytes: 8192, ..settings().last_level };
    let kernel = KernelSettings { copier: PageCopier::Dma(dma), ..settings().kernel };
    MachineSettings { last_level, kernel, ..settings() }
}

const POLLING: DmaSettings = DmaSettings::new(DmaCompletion::Polling, false);
const INTERRUPT: DmaSettings = DmaSettings::new(DmaCompletion::Interrupt, false);

/// Copies of the first bytes of one page to the next one, of pages with frames that no cache holds.
fn copies(bytes: &[u64]) -> Vec<Step> {
    let pages = (line(0), 8192);
    let copy = |&bytes: &u64| Step::Copy { dst: line(64), src: line(0), bytes };
    let begin = [Step::Map { address: pages.0, bytes: pages.1 }, Step::Present { address: pages.0, bytes: pages.1 }];
    begin.into_iter().chain(bytes.iter().map(copy)).collect()
}

fn run_one(dma: DmaSettings, bytes: &[u64]) -> Played {
    try_play(with(dma), &[copies(bytes)], BASELINE, None).unwrap()
}

/// Arrivals and ends of the requests, in clocks, in the order of arrival: whether a read, and the address.
fn timed(played: &Played) -> Vec<(bool, u64, u64, u64)> {
    let mut done = played.done.clone();
    let one = |&(arrival, operation): &(Cycle, Operation)| {
        let place = done.iter().position(|(other, _)| *other == operation).expect("it was completed");
        let (_, end) = done.remove(place);
        (matches!(operation, Operation::Read { .. }), operation.target().0, arrival.0, end.0)
    };
    played.requests.iter().map(one).collect()
}

/// The requests of a copy of a line up to the write of the status line, whose clock is returned. Set-up and two
/// pages take 800 cycles; then the stores of the descriptor miss, and their request leaves in cycle 812. The
/// doorbell takes 500 cycles from the data of the line on. The engine reads the descriptor, which the cache
/// passes and which is written, the source, and writes destination and status.
fn until_status(requests: &[(bool, u64, u64, u64)], has_poll: bool) -> (u64, u64) {
    let (_, descriptor, stored, stored_end) = requests[0];
    assert_eq!(stored, 812_u64.div_ceil(6));
    let rung = stored_end * 6 + 500;
    let engine: Vec<_> =
        requests[1..].iter().filter(|(is_read, at, ..)| !(*is_read && is_poll(*at, requests))).collect();
    let (is_read, address, fetched, fetched_end) = *engine[0];
    assert_eq!((is_read, address, fetched), (true, descriptor, rung.div_ceil(6)));
    assert_eq!((engine[1].0, engine[1].1, engine[1].2), (false, descriptor, fetched));
    let (is_read, source, read, read_end) = *engine[2];
    assert_eq!((is_read, read), (true, fetched_end));
    let (is_read, destination, written, _) = *engine[3];
    assert_eq!((is_read, destination, written), (false, source + 4096, read_end));
    let (is_read, status, status_written, _) = *engine[4];
    assert_eq!((is_read, status_written), (false, read_end));
    assert_eq!(engine.len(), 5);
    if has_poll {
        let (is_read, polled, at, _) = requests.iter().copied().find(|(_, at, ..)| *at == status).unwrap();
        assert_eq!((is_read, polled, at), (true, status, (rung + 12).div_ceil(6)));
    }
    (rung, status_written)
}

/// Whether an address is that of the status line: the last one written.
fn is_poll(address: u64, requests: &[(bool, u64, u64, u64)]) -> bool {
    requests.iter().rev().find(|(is_read, ..)| !is_read).is_some_and(|(_, written, ..)| *written == address)
}

/// The first load of the status line misses; the next one follows 100 cycles after the cycle in which the load has
/// retired. Each further one takes 113 cycles, as its line is in the cache, until the engine has written it.
#[test]
fn a_core_polls_until_the_status_line_is_written() {
    let played = run_one(POLLING, &[64]);
    let requests = timed(&played);
    let (_, status_written) = until_status(&requests, true);
    let polls: Vec<_> = requests.iter().filter(|(is_read, at, ..)| *is_read && is_poll(*at, &requests)).collect();
    assert_eq!(polls.len(), 2);
    let (visible, mut poll, mut count) = (status_written * 6, polls[0].3 * 6 + 1 + 100, 1);
    while poll < visible {
        poll += 113;
        count += 1;
    }
    assert_eq!(polls[1].2, (poll + 12).div_ceil(6));
    let core = played.outcome.cores[0];
    assert_eq!((core.counters.dma.polls, core.cycles.0), (count + 1, polls[1].3 * 6 + 1));
    let expected =
        DmaCounts { descriptors: 1, doorbells: 1, pinned_pages: 2, polls: count + 1, ..DmaCounts::default() };
    assert_eq!(core.counters.dma, expected);
    assert_eq!((core.counters.coherence.copies, core.counters.controller_copy_bytes), (1, 128));
    assert_eq!(core.counters.kernel_instructions, 4 + count + 1);
}

/// The interrupt takes 2,000 cycles from the write of the status line on; then the line is loaded.
#[test]
fn an_interrupt_costs_its_cycles_and_a_load_of_the_status_line() {
    let played = run_one(INTERRUPT, &[64]);
    let requests = timed(&played);
    let (_, status_written) = until_status(&requests, false);
    let (is_read, _, loaded, end) = *requests.last().unwrap();
    assert_eq!((is_read, loaded), (true, (status_written * 6 + 2_000 + 12).div_ceil(6)));
    let core = played.outcome.cores[0];
    assert_eq!((core.cycles.0, core.counters.dma.interrupts, core.counters.dma.polls), (end * 6 + 1, 1, 1));
}

/// The second copy of the same pages pins none: it is 400 cycles shorter before its descriptor, whose line is in
/// another slot.
#[test]
fn pinned_pages_stay_pinned() {
    let gap = |pin_cycles| {
        let played = run_one(DmaSettings { pin_cycles, ..INTERRUPT }, &[64, 64]);
        assert_eq!(played.outcome.cores[0].counters.dma.pinned_pages, 2);
        played.outcome.cores[0].cycles.0
    };
    let (free, costly) = (gap(0), gap(600));
    assert_eq!(costly - free, 1_200, "multiples of the memory clock");
}

/// With a cap of two pages, each copy between other pages unpins two.
#[test]
fn the_cap_unpins_pages_at_a_cost() {
    let address = line(0);
    let copy = |page: u64| Step::Copy { dst: line(64 * page), src: line(64 * (page + 1)), bytes: 64 };
    let steps = [
        &[Step::Map { address, bytes: 16_384 }, Step::Present { address, bytes: 16_384 }][..],
        &[copy(0), copy(2), copy(0)],
    ]
    .concat();
    let run = |unpin_cycles| {
        let dma = DmaSettings { pinned_pages: 2, unpin_cycles, ..INTERRUPT };
        let core = try_play(with(dma), std::slice::from_ref(&steps), BASELINE, None).unwrap().outcome.cores[0];
        assert_eq!((core.counters.dma.pinned_pages, core.counters.dma.unpinned_pages), (6, 4));
        core.cycles.0
    };
    assert_eq!(run(600) - run(0), 4 * 600);
}

/// Four cores share a ring of one descriptor: each copies, one after the other.
#[test]
fn a_full_ring_stalls_and_loses_nothing() {
    let run = |ring, channels| {
        let settings = with(DmaSettings { channels, ring, ..POLLING });
        let programs = vec![copies(&[4096, 4096, 4096]); 4];
        let played = try_play(settings, &programs, BASELINE, Some(1)).unwrap();
        assert_eq!(played.outcome.check.unwrap().1, None);
        assert_eq!(played.outcome.wrong, None);
        let done: Vec<u64> = played.outcome.cores.iter().map(|core| core.counters.coherence.copies).collect();
        assert_eq!(done, [3; 4]);
        played.outcome.cores.iter().map(|core| core.cycles.0).max().unwrap()
    };
    let (one, four) = (run(1, 1), run(4, 4));
    assert!(one > four + four / 10, "{one} against {four} cycles");
}

/// Doorbell and interrupt cross a bus: one address each, and 20 cycles to the controller's side.
#[test]
fn messages_cross_the_bus() {
    let settings = MachineSettings { bus: Some(BUS), ..with(INTERRUPT) };
    let played = try_play(settings, &[copies(&[64])], BASELINE, None).unwrap();
    let requests = timed(&played);
    // Data of the line of the descriptor: 30 cycles of response, then two clocks of 15 cycles.
    let stored = (requests[0].3 * 6 + 30_u64).next_multiple_of(15) + 30;
    let rung = (stored + 500).next_multiple_of(15) + 15 + 20;
    assert_eq!(requests[1].2, rung.div_ceil(6));
}

/// A copy that is begun takes set-up, the stores of its descriptor and the doorbell; the next load dispatches when
/// the doorbell's cycles are over. Two copies with one doorbell have one set-up, and a descriptor of 60 cycles more.
#[test]
fn a_core_goes_on_after_the_doorbell() {
    let begin =
        |page: u64| Step::Device(DeviceStep::Begin { dst: line(64 * page), src: line(64 * page + 1), bytes: 64 });
    let after = |doorbell_descriptors, begun: &[Step]| {
        let dma = DmaSettings { doorbell_descriptors, pin_cycles: 0, ..POLLING };
        let (steps, last) = (copies(&[]), [load(32), Step::Device(DeviceStep::Wait)]);
        let played = try_play(with(dma), &[[&steps, begun, &last[..]].concat()], BASELINE, None).unwrap();
        let far = played.requests.iter().find(|(_, operation)| operation.target().0 % 4096 == 32 * 64);
        let (dma, (arrival, _)) = (played.outcome.cores[0].counters.dma, far.expect("the load misses"));
        (dma.descriptors, dma.doorbells, arrival.0, timed(&played))
    };
    // Set-up takes 400 cycles; the stores miss, and the doorbell follows their data.
    let (descriptors, doorbells, loaded, requests) = after(1, &[begin(0)]);
    assert_eq!((descriptors, doorbells, requests[0].2), (1, 1, 412_u64.div_ceil(6)));
    assert_eq!(loaded, (requests[0].3 * 6 + 500 + 12).div_ceil(6));
    // The second descriptor: 60 cycles after the data of the first one, and a line of its own.
    let (descriptors, doorbells, loaded, requests) = after(2, &[begin(0), begin(1)]);
    assert_eq!((descriptors, doorbells), (2, 1));
    assert_eq!(requests[1].2, (requests[0].3 * 6 + 60 + 12).div_ceil(6));
    assert_eq!(loaded, (requests[1].3 * 6 + 500 + 12).div_ceil(6));
    // A wait writes the doorbell that was not written.
    let (descriptors, doorbells, ..) = after(3, &[begin(0), begin(1)]);
    assert_eq!((descriptors, doorbells), (2, 1));
}

/// The interrupt comes while the second instruction waits for the result of the first one, which takes 20,000 cycles.
/// Its 2,000 cycles count for the kernel; all others of the wait, before and after it, for the operand.
#[test]
fn a_wait_for_operands_keeps_its_cause_when_an_interrupt_comes() {
    let multiply = |after| Step::Instruction {
        kind: InstructionKind::Compute { instructions: 1 },
        needs: Needs { class: InstructionClass::Multiply, after: [after, 0] },
    };
    let steps = |copies: bool| -> Vec<Step> {
        let begin = Step::Device(DeviceStep::Begin { dst: line(64), src: line(0), bytes: 64 });
        let copy = copies.then_some(begin);
        super::dma::copies(&[]).into_iter().chain(copy).chain([multiply(0), multiply(1)]).collect()
    };
    let mut settings = with(INTERRUPT);
    (settings.core.order, settings.core.width) = (Order::InOrder, 1);
    settings.core.classes.of_mut(InstructionClass::Multiply).latency = 20_000;
    let operand = |copies| {
        let core = try_play(settings, &[steps(copies)], BASELINE, None).unwrap().outcome.cores[0];
        assert_eq!(core.counters.dma.interrupts, u64::from(copies));
        core.counters.stalls.operand
    };
    assert_eq!((operand(false), operand(true)), (19_999, 17_999));
}
