//! A comparison as one HTML page with its pictures.

use rowclone_sim::compare::Question;

use super::{CompareRow, CompareTable, ComparedCase, pictures, quantity, title};
use crate::page::compared::{self, ComparedTable};

impl CompareTable {
    /// The page as HTML: short answers, pictures, a table per question, and all figures.
    pub fn to_html(&self) -> String {
        let programs = self.cases.iter().filter(|case| case.bytes.is_none());
        let mut answers: Vec<String> = programs.filter_map(ComparedCase::verdict).flatten().collect();
        answers.extend(Question::ALL.map(|question| self.short_answer(question)));
        let mut tables: Vec<ComparedTable> =
            Question::ALL.into_iter().map(|question| self.answers_of_page(question)).collect();
        tables.push(self.figures_of_page());
        let refusals: Vec<String> = self.refusals(usize::MAX).lines().skip(1).map(str::to_owned).collect();
        let mut pictures = self.pictures();
        // The first state and share of each operation precede the others.
        let first = ["copy", "zero", "receive"].map(|operation| {
            let of_operation = self.cases.iter().find(|case| case.operation == operation);
            of_operation.map(pictures::stem)
        });
        let is_first = |name: &str| first.iter().flatten().any(|stem| name.starts_with(stem));
        pictures.sort_by_key(|picture| !is_first(&picture.name));
        let charts = pictures.into_iter().map(|picture| picture.chart).collect::<Vec<_>>();
        let lead = [self.lead(), self.assumptions.join("\n")].concat();
        compared::page("Copiers compared", &lead, &answers, &charts, &tables, &refusals)
    }

    fn answers_of_page(&self, question: Question) -> ComparedTable {
        let row = |case: &ComparedCase| {
            let best = case.best(question)?;
            let names: Vec<&str> = best.copiers.iter().map(|copier| copier.name()).collect();
            let what = if case.bytes.is_some() { title(case) } else { case.state.clone() };
            Some((vec![what, case.size(), names.join(", ")], vec![Some(best.value)]))
        };
        // Cases of one question may have different quantities.
        let mut quantities: Vec<&str> = self.cases.iter().map(|case| quantity(question, case)).collect();
        quantities.dedup();
        let heads = ["case", "size", "best copiers"].map(str::to_owned);
        ComparedTable {
            caption: question.title().to_owned(),
            heads: heads.into_iter().chain([quantities.join(", or ")]).collect(),
            rows: self.cases.iter().filter_map(row).collect(),
        }
    }

    fn figures_of_page(&self) -> ComparedTable {
        let count = |count: Option<u64>| count.map(|count| count as f64);
        let row = |row: CompareRow| {
            let read = row.read_percent.map_or_else(String::new, |read| format!("{read} %"));
            let size = row.bytes.map_or_else(String::new, rowclone_sim::quantity::bytes);
            let texts = vec![row.operation.to_owned(), row.state, size, read, row.copier.to_owned(), row.why_not];
            let counts = [row.channel_bytes, row.lines_lost, row.extra_misses].map(count);
            (texts, [&[row.time_ns, row.cpu_ns, row.energy_nj], &counts[..]].concat())
        };
        let texts = "operation|state|size|read|copier|why not";
        let numbers = "time (ns)|CPU time (ns)|energy (nJ)|channel (bytes)|lines lost|extra misses";
        let heads = texts.split('|').chain(numbers.split('|')).map(str::to_owned).collect();
        ComparedTable { caption: "All figures".to_owned(), heads, rows: self.rows().into_iter().map(row).collect() }
    }
}
