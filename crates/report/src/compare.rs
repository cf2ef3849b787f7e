//! Comparison of copiers: a table per operation, an answer per question, rows for files, and pictures.

use rowclone_sim::compare::{Best, Case, CopierFigures, CopierKind, CopierResult, NamedCopier, Question, Unable};
use rowclone_sim::quantity::{bytes, counted};
use serde::Serialize;

use crate::csv_file::{self, CsvLine, fields};
use crate::decisions;
use crate::table::Align::{Left, Right};
use crate::table::{Header, TextColumn, aligned, in_groups, listed, or_dash, percent, three_digits, whole, wrapped};

mod page;
mod pictures;
#[cfg(test)]
mod tests;
mod verdict;

pub use pictures::Drawn;

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// A case with the result of each copier.
#[derive(Clone, Debug)]
pub struct ComparedCase {
    /// `copy`, `zero`, `receive` or `scenario`.
    pub operation: &'static str,
    /// State of the source, place where a message is delivered, or name of the scenario; empty for a zeroing.
    pub state: String,
    /// Bytes; none of a scenario.
    pub bytes: Option<u64>,
    /// Percent of the destination that the program reads afterwards; none of a scenario.
    pub read_percent: Option<u64>,
    /// Copiers with their results, in the order of the list.
    pub results: Vec<(NamedCopier, CopierResult)>,
}

impl ComparedCase {
    /// A case with its results.
    pub fn new(case: Case, results: Vec<(NamedCopier, CopierResult)>) -> ComparedCase {
        let Case { operation, bytes, read_percent } = case;
        ComparedCase {
            operation: operation.name(),
            state: operation.state().to_owned(),
            bytes: Some(bytes),
            read_percent: Some(read_percent),
            results,
        }
    }

    /// A scenario or a program with its results.
    pub const fn scenario(state: String, results: Vec<(NamedCopier, CopierResult)>) -> ComparedCase {
        ComparedCase { operation: "scenario", state, bytes: None, read_percent: None, results }
    }

    fn best(&self, question: Question) -> Option<Best> {
        question.best(self.results.iter().map(|(copier, result)| (*copier, result)))
    }

    /// Description of the best copiers: the first, and the number of others with an equal figure; or that all copiers
    /// of the operation have this figure.
    fn best_named(&self, question: Question) -> Option<String> {
        let best = self.best(question)?;
        let able = self.results.iter().filter(|(_, result)| result.figures.is_ok()).count();
        let first = best.copiers[0].name();
        Some(match best.copiers.len() - 1 {
            0 => first.to_owned(),
            others if others + 1 == able => ALL_ALIKE.to_owned(),
            1 => format!("{first} and {}", best.copiers[1].name()),
            others => format!("{first} and {others} others"),
        })
    }

    /// Whether two cases differ only in their size.
    fn is_beside(&self, other: &ComparedCase) -> bool {
        (self.operation, &self.state, self.read_percent) == (other.operation, &other.state, other.read_percent)
    }

    /// The size as text; empty without a size.
    fn size(&self) -> String {
        self.bytes.map_or_else(String::new, bytes)
    }

    fn read(&self) -> String {
        or_dash(self.read_percent, |read| format!("{read} %"))
    }
}

/// A result as a row of JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CompareRow {
    /// `copy`, `zero`, `receive` or `scenario`.
    pub operation: &'static str,
    /// State of the source, place where a message is delivered, or name of the scenario.
    pub state: String,
    /// Bytes; none of a scenario.
    pub bytes: Option<u64>,
    /// Percent of the destination that the program reads afterwards.
    pub read_percent: Option<u64>,
    /// Copier.
    pub copier: &'static str,
    /// Kind of the copier.
    pub kind: &'static str,
    /// Time, ns; none, as all figures, if the copier cannot execute the operation. Of `copy` and `zero`: from the first
    /// copy to the end of copies and reads; of `receive` the run, from the first instruction.
    pub time_ns: Option<f64>,
    /// CPU time of copies, ns; of `receive` the time in which the core is not idle.
    pub cpu_ns: Option<f64>,
    /// Dynamic DRAM energy from the start of the region until its last request is done, nJ: without lines that stay
    /// dirty in a cache.
    pub energy_nj: Option<f64>,
    /// Bytes over the memory channels in the region.
    pub channel_bytes: Option<u64>,
    /// Lines that a program with `read_again = "backward"` requests from memory, beyond those of the program without:
    /// the lines of the working set that the cache no longer holds.
    pub lines_lost: Option<u64>,
    /// As `lines_lost` with `read_again = "forward"`: each miss may replace the next line. Of `receive` and files all
    /// misses of the program.
    pub extra_misses: Option<u64>,
    /// Share of the bytes that were copied or zeroed in DRAM, 0 to 1.
    pub in_dram_share: Option<f64>,
    /// Reason why the copier cannot execute the operation; empty if it can.
    pub why_not: String,
}

/// A comparison of copiers.
#[derive(Clone, Debug)]
pub struct CompareTable {
    /// Machine, or system.
    pub machine: String,
    /// Bytes of the working set; none of a scenario.
    pub working_set_bytes: Option<u64>,
    /// Assumptions about recordings.
    pub assumptions: Vec<String>,
    /// Copiers that were compared.
    pub copiers: Vec<NamedCopier>,
    /// The cases; those that differ in size alone follow each other.
    pub cases: Vec<ComparedCase>,
}

/// A comparison as the fields of JSON.
#[derive(Clone, Debug, Serialize)]
pub struct CompareJson<'a> {
    schema_version: u32,
    machine: &'a str,
    working_set_bytes: Option<u64>,
    assumptions: &'a [String],
    answers: Vec<Answer>,
    rows: Vec<CompareRow>,
}

/// The best copiers of a case.
#[derive(Clone, Debug, Serialize)]
struct Answer {
    question: &'static str,
    operation: &'static str,
    state: String,
    bytes: Option<u64>,
    read_percent: Option<u64>,
    copiers: Vec<&'static str>,
    value: f64,
}

/// Reason why a copier does not execute an operation, as text.
pub fn why(unable: &Unable) -> String {
    match unable {
        Unable::OverChannel(reason) => format!("would copy over the channel: {}", decisions::sentence(reason)),
        Unable::TooSmall(least) => {
            format!("the kernel's loop copies less than {} (`kernel.copier_min_bytes`)", bytes(*least))
        }
        Unable::DoesNotZero => "the device does not zero; the kernel's loop zeroes".to_owned(),
        Unable::NeedsCores => "needs programs on cores: a scenario with a `machine`".to_owned(),
        Unable::Impossible(error) => error.clone(),
    }
}

/// Whether displacement of a case is counted in lines of the working set, else in misses of the program.
fn has_lines_lost(case: &ComparedCase) -> bool {
    ["copy", "zero"].contains(&case.operation)
}

/// Meaning of the number of a question about a case, with its unit.
fn quantity(question: Question, case: &ComparedCase) -> &'static str {
    match question {
        Question::Time => "time, ns",
        Question::CpuTime => "CPU time, ns",
        Question::Energy => "dynamic energy, nJ",
        Question::Displacement if has_lines_lost(case) => "lines of the working set lost",
        Question::Displacement => "misses of the program",
    }
}

/// The answer if all copiers of an operation have one figure.
const ALL_ALIKE: &str = "all alike";

/// Values of consecutive sizes that are equal, with the first and last size.
fn ranges<T: PartialEq>(values: impl IntoIterator<Item = (String, T)>) -> Vec<(String, T)> {
    let mut found: Vec<(String, String, T)> = Vec::new();
    for (size, value) in values {
        match found.last_mut() {
            Some((_, last, known)) if *known == value => *last = size,
            _ => found.push((size.clone(), size, value)),
        }
    }
    let text = |(first, last, value)| (if first == last { first } else { format!("{first} to {last}") }, value);
    found.into_iter().map(text).collect()
}

impl CompareTable {
    /// Cases that differ in size alone.
    fn groups(&self) -> impl Iterator<Item = &[ComparedCase]> {
        self.cases.chunk_by(ComparedCase::is_beside)
    }

    /// Results as rows.
    pub fn rows(&self) -> Vec<CompareRow> {
        let of = |case: &ComparedCase| {
            let row = |(copier, result): &(NamedCopier, CopierResult)| row(case, *copier, result);
            case.results.iter().map(row).collect::<Vec<_>>()
        };
        self.cases.iter().flat_map(of).collect()
    }

    /// All results and answers as fields of JSON.
    pub fn json(&self) -> CompareJson<'_> {
        let answers = Question::ALL.into_iter().flat_map(|question| self.answers(question)).collect();
        CompareJson {
            schema_version: SCHEMA_VERSION,
            machine: &self.machine,
            working_set_bytes: self.working_set_bytes,
            assumptions: &self.assumptions,
            answers,
            rows: self.rows(),
        }
    }

    fn answers(&self, question: Question) -> Vec<Answer> {
        let of = |case: &ComparedCase| {
            let best = case.best(question)?;
            Some(Answer {
                question: question.title(),
                operation: case.operation,
                state: case.state.clone(),
                bytes: case.bytes,
                read_percent: case.read_percent,
                copiers: best.copiers.iter().map(|copier| copier.name()).collect(),
                value: best.value,
            })
        };
        self.cases.iter().filter_map(of).collect()
    }

    /// All results as CSV.
    ///
    /// # Errors
    /// Never: the text is in memory.
    pub fn to_csv(&self) -> Result<String, csv::Error> {
        csv_file::table(Some(&cells(CompareRow::default())), self.rows().into_iter().map(cells))
    }

    /// The first screen, or with `details` all figures; as wide as `width`.
    pub fn to_text(&self, details: bool, width: usize) -> String {
        let is_scenario = self.cases.iter().any(|case| case.bytes.is_none());
        let assumptions = self.assumptions.iter().map(|sentence| wrapped(sentence, width)).collect();
        let mut parts = vec![self.lead(), assumptions, self.verdicts(width), self.short_answers(width)];
        if is_scenario {
            parts.extend(self.cases.iter().map(|case| scenario_table(case, width)));
        } else {
            parts.extend(self.size_tables(details));
            parts.extend(Question::ALL.into_iter().map(|question| self.answer_table(question)));
        }
        parts.push(self.refusals(width));
        if !details && !is_scenario {
            parts.push(
                "`--details` prints the figures of all cases, `--format csv` or `json` all numbers.\n".to_owned(),
            );
        }
        parts.retain(|part| !part.is_empty());
        parts.join("\n")
    }

    fn lead(&self) -> String {
        let count = |name: &str| self.cases.iter().filter(|case| case.operation == name).count() as u64;
        let all = [("copy", "case of copies", "cases of copies"), ("zero", "of zeroings", "of zeroings")];
        let mut counts: Vec<String> = all
            .into_iter()
            .chain([("receive", "of messages", "of messages")])
            .filter(|(name, ..)| count(name) > 0)
            .map(|(name, one, many)| format!("{} {}", count(name), if count(name) == 1 { one } else { many }))
            .collect();
        counts.extend(self.cases.iter().filter(|case| case.bytes.is_none()).map(|case| case.state.clone()));
        let copiers = counted(self.copiers.len() as u64, "copier");
        let beside = self.working_set_bytes.map_or_else(String::new, |set| {
            format!(
                "\nbeside a working set of {}. Energy is the dynamic energy of the DRAM; lines that stay dirty in a\n\
                 cache are written later; no figure includes these writes.",
                bytes(set)
            )
        });
        format!("{copiers} on {}: {}{beside}\n", self.machine, counts.join(", "))
    }

    /// Sentences on whether copies in DRAM help each program, why, and which change would help more.
    fn verdicts(&self, width: usize) -> String {
        let programs = self.cases.iter().filter(|case| case.bytes.is_none());
        programs.filter_map(ComparedCase::verdict).flatten().map(|sentence| wrapped(&sentence, width)).collect()
    }

    /// One line per question: in how many cases each copier is the best.
    fn short_answers(&self, width: usize) -> String {
        Question::ALL.into_iter().map(|question| wrapped(&self.short_answer(question), width)).collect()
    }

    fn short_answer(&self, question: Question) -> String {
        let mut parts = Vec::new();
        for (operation, plural) in
            [("copy", "copies: "), ("zero", "zeroings: "), ("receive", "messages: "), ("scenario", "")]
        {
            let of: Vec<&ComparedCase> = self.cases.iter().filter(|case| case.operation == operation).collect();
            let best: Vec<String> = of.iter().filter_map(|case| case.best_named(question)).collect();
            if operation == "scenario" {
                parts.extend(best);
                continue;
            }
            // The first of several copiers.
            let mut wins = in_groups(best.iter().map(|text| (text.split(" and ").next().unwrap_or(text), ())));
            wins.sort_by_key(|(_, cases)| usize::MAX - cases.len());
            let shown = wins.iter().take(3).map(|(name, cases)| format!("{name} in {}", cases.len()));
            let shown: Vec<String> = shown.collect();
            let more = if wins.len() > 3 { ", …" } else { "" };
            if !wins.is_empty() {
                parts.push(format!("{plural}{} of {}{more}", shown.join(", "), of.len()));
            }
        }
        let answer = if parts.is_empty() { "nothing to compare".to_owned() } else { parts.join("; ") };
        format!("{} {answer}", question.title())
    }

    /// A table of times per operation, for the first state and share; with `details`, for all states, shares and
    /// figures.
    fn size_tables(&self, details: bool) -> Vec<String> {
        let mut tables = Vec::new();
        let mut shown: Vec<&str> = Vec::new();
        for group in self.groups() {
            let is_first = !shown.contains(&group[0].operation);
            shown.push(group[0].operation);
            let questions: &[Question] = match (details, is_first) {
                (true, _) => &Question::ALL,
                (false, true) => &[Question::Time],
                (false, false) => &[],
            };
            tables.extend(questions.iter().map(|&question| self.size_table(group, question)));
        }
        tables
    }

    fn size_table(&self, group: &[ComparedCase], question: Question) -> String {
        let sizes: Vec<String> = group.iter().map(ComparedCase::size).collect();
        let columns: Vec<Header<'_>> =
            [("copier", Left)].into_iter().chain(sizes.iter().map(|size| (size.as_str(), Right))).collect();
        let row = |(place, copier): (usize, &NamedCopier)| {
            let cell = |case: &ComparedCase| {
                let figures = case.results[place].1.figures.as_ref().ok();
                or_dash(figures.and_then(|figures| question.values(figures)), |[value, _]| number(question, value))
            };
            [copier.name().to_owned()].into_iter().chain(group.iter().map(cell)).collect()
        };
        let rows: Vec<Vec<String>> = self.copiers.iter().enumerate().map(row).collect();
        format!("{}: {}\n{}", title(&group[0]), quantity(question, &group[0]), aligned(&columns, &rows))
    }

    /// The best copiers for a question: a line per operation, state and share.
    fn answer_table(&self, question: Question) -> String {
        let columns = [("operation", Left), ("state", Left), ("read", Right), ("best copier", Left)];
        let row = |group: &[ComparedCase]| {
            let best = group.iter().map(|case| (case.size(), or_dash(case.best_named(question), |best| best)));
            let best: Vec<String> =
                ranges(best).into_iter().map(|(sizes, copier)| format!("{sizes}: {copier}")).collect();
            vec![group[0].operation.to_owned(), group[0].state.clone(), group[0].read(), best.join("; ")]
        };
        let rows: Vec<Vec<String>> = self.groups().map(row).collect();
        format!("{}\n{}", question.title(), aligned(&columns, &rows))
    }

    /// Operations that copiers cannot execute, with the reasons: sizes and copiers with one reason are one entry.
    fn refusals(&self, width: usize) -> String {
        let mut refused = Vec::new();
        for operation in ["copy", "zero", "receive", "scenario"] {
            for (place, copier) in self.copiers.iter().enumerate() {
                for (sizes, why) in self.refused(operation, place) {
                    let of = if sizes.is_empty() { String::new() } else { format!("{operation} {sizes}: ") };
                    refused.push((format!("{of}{why}"), copier.name()));
                }
            }
        }
        let line = |(text, mut names): (String, Vec<&str>)| {
            names.dedup();
            wrapped(&format!("{text}: {}", names.join(", ")), width)
        };
        let lines: String = in_groups(refused).into_iter().map(line).collect();
        if lines.is_empty() { lines } else { format!("Copiers that cannot do an operation themselves\n{lines}") }
    }

    /// Sizes of an operation that a copier cannot execute, with the reasons, over all states and shares.
    fn refused(&self, operation: &str, place: usize) -> Vec<(String, String)> {
        let mut found: Vec<(u64, String, String)> = Vec::new();
        for case in self.cases.iter().filter(|case| case.operation == operation) {
            let Err(unable) = &case.results[place].1.figures else { continue };
            let refusal = (case.bytes.unwrap_or(0), case.size(), why(unable));
            if !found.contains(&refusal) {
                found.push(refusal);
            }
        }
        found.sort_by_key(|(bytes, ..)| *bytes);
        ranges(found.into_iter().map(|(_, size, why)| (size, why)))
    }
}

/// Title of a group of cases.
fn title(case: &ComparedCase) -> String {
    let read = match case.read_percent {
        None | Some(0) => "nothing read afterwards".to_owned(),
        Some(100) => "all read afterwards".to_owned(),
        Some(read) => format!("{read} % read afterwards"),
    };
    match case.operation {
        "copy" => format!("Copy of a {} source, {read}", case.state),
        "zero" => format!("Zeroing, {read}"),
        _ => format!("Message to {}, {read}", case.state),
    }
}

fn number(question: Question, value: f64) -> String {
    if question == Question::Displacement { whole(value) } else { three_digits(value) }
}

fn row(case: &ComparedCase, copier: NamedCopier, result: &CopierResult) -> CompareRow {
    let figures = result.figures.as_ref().ok().copied();
    let of = |figure: fn(CopierFigures) -> f64| figures.map(figure);
    CompareRow {
        operation: case.operation,
        state: case.state.clone(),
        bytes: case.bytes,
        read_percent: case.read_percent,
        copier: copier.name(),
        kind: copier.kind().name(),
        time_ns: of(|figures| figures.time_ns),
        cpu_ns: figures.and_then(|figures| figures.cpu_ns),
        energy_nj: figures.and_then(|figures| figures.energy_nj),
        channel_bytes: figures.map(|figures| figures.channel_bytes),
        lines_lost: figures.and_then(|figures| figures.lines_lost),
        extra_misses: figures.and_then(|figures| figures.extra_misses),
        in_dram_share: of(|figures| figures.in_dram_share),
        why_not: result.figures.as_ref().err().map(why).unwrap_or_default(),
    }
}

/// The cells of a result, by column.
fn cells(row: CompareRow) -> CsvLine {
    let mut line = fields!(row; operation, state, bytes, read_percent, copier, kind, time_ns, cpu_ns).to_vec();
    line.extend(fields!(row; energy_nj, channel_bytes, lines_lost, extra_misses, in_dram_share, why_not));
    line
}

/// Figures of a scenario: one line per copier that can execute it.
fn scenario_table(case: &ComparedCase, width: usize) -> String {
    let columns: [TextColumn<'_, (NamedCopier, CopierFigures)>; 7] = [
        ("copier", Left, &|(copier, _)| copier.name().to_owned()),
        ("time\nns", Right, &|(_, it)| three_digits(it.time_ns)),
        ("CPU time of\ncopies, ns", Right, &|(_, it)| or_dash(it.cpu_ns, three_digits)),
        ("dynamic\nenergy, nJ", Right, &|(_, it)| or_dash(it.energy_nj, three_digits)),
        ("channel\nbytes", Right, &|(_, it)| whole(it.channel_bytes as f64)),
        ("misses of\nprograms", Right, &|(_, it)| or_dash(it.extra_misses, |misses| whole(misses as f64))),
        ("copied\nin DRAM", Right, &|(_, it)| percent(it.in_dram_share)),
    ];
    let able = case.results.iter().filter_map(|(copier, result)| Some((*copier, result.figures.clone().ok()?)));
    listed(&columns, &able.collect::<Vec<_>>(), width)
}

/// The least figure of each kind of copiers in a case; none for kinds whose copiers cannot execute the operation.
fn by_kind(case: &ComparedCase, question: Question) -> Vec<(CopierKind, f64)> {
    let of = |kind: CopierKind| {
        let results = case.results.iter().filter(|(copier, _)| copier.kind() == kind);
        question.best(results.map(|(copier, result)| (*copier, result))).map(|best| (kind, best.value))
    };
    CopierKind::ALL.into_iter().filter_map(of).collect()
}
