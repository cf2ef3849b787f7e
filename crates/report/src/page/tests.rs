//! Properties of a page as a whole: a parser of the standard's reads it back.

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

use rowclone_sim::OperationRow;

use super::*;
use crate::cell::{Cell, CellColumn, CellKind};
use crate::plot::Table;

/// A name that would be a script if it were not escaped.
const HOSTILE: &str = "</style><script>alert('\"&\")</script><img src=x onerror=alert(1)>";

/// A table of cells.
fn runs(columns: &[CellColumn], axes: Vec<String>, rows: Vec<Vec<Cell>>) -> Runs {
    let texts = |row: Vec<Cell>| row.iter().map(ToString::to_string).collect();
    let names = columns.iter().map(|column| column.name.clone()).collect();
    Runs::new(Table::new(names, rows.into_iter().map(texts).collect()).unwrap(), axes)
}

/// The axes of a sweep.
fn axes() -> Vec<String> {
    vec!["source".to_owned(), "bytes".to_owned()]
}

/// Two sizes, two sources, two policies and a seed; the last run failed.
fn rows_of_a_sweep(name: &str) -> (Vec<CellColumn>, Vec<Vec<Cell>>) {
    let text = |name: &str| CellColumn::new(name, CellKind::Text);
    let count = |name: &str| CellColumn::new(name, CellKind::Count);
    let number = |name: &str| CellColumn::new(name, CellKind::Number);
    let columns = vec![
        count("point"),
        text("source"),
        count("bytes"),
        count("seed"),
        text("policy"),
        count("requests"),
        count("copy_latency_count"),
        number("copy_latency_mean_ns"),
        number("dynamic_energy_nj"),
        number("energy_activate_nj"),
        number("energy_write_nj"),
        count("parts_channel"),
        count("parts_fpm"),
        text("error"),
        text("rerun"),
    ];
    let mut rows = Vec::new();
    for (point, (source, bytes)) in [(name, 64_u64), (name, 4096), ("b", 64), ("b", 4096)].into_iter().enumerate() {
        for (policy, ns) in [("baseline", 1046.25), ("rowclone", 90.0)] {
            let figures = [ns + bytes as f64, ns * 3.0, ns, ns * 2.0].map(Cell::from);
            let mut row: Vec<Cell> = vec![(point as u64).into(), source.into(), bytes.into(), 1_u64.into()];
            row.extend([policy.into(), 1_u64.into(), 1_u64.into()]);
            row.extend(figures);
            row.extend([1_u64.into(), 0_u64.into(), "".into(), format!("run {name}").into()]);
            rows.push(row);
        }
    }
    let failed = rows.last_mut().expect("there are rows");
    for (cell, column) in failed.iter_mut().zip(&columns).skip(5).take(8) {
        *cell = column.kind.empty();
    }
    failed[13] = name.into();
    (columns, rows)
}

fn sweep(name: &str) -> Page {
    let (columns, rows) = rows_of_a_sweep(name);
    Page {
        title: name.to_owned(),
        subject: Subject::Sweep,
        facts: vec![Fact { name: name.to_owned(), values: vec![name.to_owned()] }],
        commands: vec![name.to_owned()],
        findings: vec![Finding { weight: Weight::Warning, text: name.to_owned(), runs: 3 }],
        runs: runs(&columns, axes(), rows),
        epochs: Runs::default(),
        operations: Vec::new(),
        cores: Vec::new(),
        served: Vec::new(),
        pictures: Vec::new(),
        published: PublishedFigures { rows: Vec::new(), notes: vec![name.to_owned()] },
    }
}

/// The results of a scenario with an operation under two policies.
fn run(name: &str) -> Page {
    let operation = |run: &str, latency_ns| PageOperation {
        index: 0,
        run: run.to_owned(),
        row: OperationRow {
            label: name.to_owned(),
            mechanism: "fpm".to_owned(),
            reasons: vec![name.to_owned()],
            latency_cycles: 48,
            latency_ns,
            energy_nj: Some(49.5),
            speedup: Some(11.62),
            energy_ratio: Some(66.43),
            ..OperationRow::default()
        },
    };
    let served = Served {
        run: "rowclone".to_owned(),
        operation: "copy".to_owned(),
        mechanism: "fpm".to_owned(),
        reason: name.to_owned(),
        count: 1,
        bytes: 4096,
        share_of_bytes: 1.0,
    };
    let beside = Beside {
        id: "copy/fpm".to_owned(),
        run: name.to_owned(),
        published_ns: 90.0,
        simulated_ns: 90.0,
        published_nj: 48.4,
        simulated_nj: 49.5,
    };
    Page {
        subject: Subject::Run,
        operations: vec![operation("baseline", 1046.25), operation("rowclone", 90.0)],
        served: vec![served],
        published: PublishedFigures { rows: vec![beside], notes: Vec::new() },
        ..sweep(name)
    }
}

/// Parses a page like a browser.
fn parsed(html: &str) -> RcDom {
    let dom = parse_document(RcDom::default(), ParseOpts::default()).one(html);
    assert_eq!(*dom.errors.borrow(), Vec::<std::borrow::Cow<str>>::new());
    dom
}

fn walk(node: &Handle, visit: &mut impl FnMut(&Handle)) {
    visit(node);
    for child in node.children.borrow().iter() {
        walk(child, visit);
    }
}

fn tag(node: &Handle) -> String {
    match &node.data {
        NodeData::Element { name, .. } => name.local.to_string(),
        _ => String::new(),
    }
}

fn attribute(node: &Handle, wanted: &str) -> Option<String> {
    let NodeData::Element { attrs, .. } = &node.data else { return None };
    let attrs = attrs.borrow();
    attrs.iter().find(|attr| *attr.name.local == *wanted).map(|attr| attr.value.to_string())
}

fn all(dom: &RcDom, wanted: &str) -> Vec<Handle> {
    let mut found = Vec::new();
    walk(&dom.document, &mut |node| {
        if tag(node) == wanted {
            found.push(node.clone());
        }
    });
    found
}

fn text(node: &Handle) -> String {
    let mut said = String::new();
    walk(node, &mut |node| {
        if let NodeData::Text { contents } = &node.data {
            said.push_str(&contents.borrow());
        }
    });
    said
}

/// The cells of the table's body.
fn body(dom: &RcDom, id: &str) -> Vec<Vec<String>> {
    let tables = all(dom, "table");
    let table = tables.iter().find(|table| attribute(table, "id").as_deref() == Some(id)).expect("it is there");
    let mut rows = Vec::new();
    walk(table, &mut |node| {
        if tag(node) == "tr" {
            let cells = node.children.borrow();
            rows.push(cells.iter().filter(|cell| tag(cell) == "td").map(text).collect());
        }
    });
    rows.into_iter().filter(|row: &Vec<String>| !row.is_empty()).collect()
}

#[test]
fn a_page_is_html_without_an_error_whatever_the_names_are() {
    for page in [sweep("plain"), run("plain"), sweep(HOSTILE), run(HOSTILE)] {
        let dom = parsed(&page.to_html());
        assert_eq!(all(&dom, "script").len(), 1, "only ours");
        assert_eq!((all(&dom, "style").len(), all(&dom, "img").len()), (1, 0), "only ours");
        assert_eq!(text(&all(&dom, "h1")[0]), page.title);
    }
}

#[test]
fn every_run_and_every_operation_has_its_row() {
    let dom = parsed(&sweep("a").to_html());
    let rows = body(&dom, "runs");
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[3][..5], ["1", "a", "4,096", "rowclone", "★4,186"]);
    assert_eq!(rows[7][4..], ["–", "–", "–", "a"], "the run that failed has its error, and no figures");
    assert_eq!(body(&dom, "rerun").len(), 8);
    assert_eq!(body(&parsed(&run("a").to_html()), "operations").len(), 2);
}

#[test]
fn nothing_is_loaded_and_nothing_changes_from_time_to_time() {
    for page in [sweep("a"), run("a")] {
        let html = page.to_html();
        assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("@import"));
        let dom = parsed(&html);
        let mut loads = Vec::new();
        walk(&dom.document, &mut |node| loads.extend(attribute(node, "src").or_else(|| attribute(node, "href"))));
        assert!(loads.iter().all(|load| load.starts_with('#') || load == "data:,"), "{loads:?}");
        assert_eq!(html, page.to_html());
    }
}

#[test]
fn each_id_is_there_once_and_each_link_has_its_place() {
    for page in [sweep("a"), run("a")] {
        let dom = parsed(&page.to_html());
        let (mut ids, mut links) = (Vec::new(), Vec::new());
        walk(&dom.document, &mut |node| {
            ids.extend(attribute(node, "id"));
            links.extend(attribute(node, "href").filter(|link| link.starts_with('#')));
        });
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count, "{ids:?}");
        assert!(links.iter().all(|link| ids.contains(&link[1..].to_owned())), "{links:?}");
    }
}

#[test]
fn warnings_follow_the_headline_with_the_runs_that_they_concern() {
    let mut page = sweep("a");
    page.findings.push(Finding { weight: Weight::Warning, text: "a".to_owned(), runs: 2 });
    let dom = parsed(&page.to_html());
    assert_eq!(text(&all(&dom, "h2")[1]), "Warnings");
    let items = all(&dom, "li")
        .iter()
        .map(text)
        .filter(|item| item.contains("run)") || item.contains("runs)"))
        .filter(|item| item.contains("Error") || item.contains("Warning"))
        .collect::<Vec<_>>();
    assert_eq!(items, ["✖ Errora (1 run)", "⚠ Warninga (5 runs)"]);
}

#[test]
fn points_that_are_missing_are_warned_of() {
    let mut page = sweep("a");
    let (columns, mut rows) = rows_of_a_sweep("a");
    rows.drain(2..4);
    page.runs = runs(&columns, axes(), rows);
    assert!(warnings::all(&page).iter().any(|found| found.text.starts_with("1 points before the last")), "{page:?}");
}

/// The titles of all marks of a page.
fn marks(dom: &RcDom) -> Vec<String> {
    let is_mark = |node: &&Handle| attribute(node, "class").as_deref() == Some("mark");
    all(dom, "g").iter().filter(is_mark).map(|mark| text(&mark.children.borrow()[0])).collect()
}

#[test]
fn every_mark_of_a_chart_states_its_value_and_takes_the_focus() {
    let dom = parsed(&sweep("a").to_html());
    let titles = marks(&dom);
    assert!(titles.contains(&"rowclone, 4 KiB: 4186 ns".to_owned()), "{titles:?}");
    assert!(titles.iter().all(|title| !title.is_empty()));
    let marks_of_run = marks(&parsed(&run("a").to_html()));
    assert!(marks_of_run.contains(&"baseline, a: 1046.25 ns".to_owned()), "{marks_of_run:?}");
    let unreached = all(&dom, "g").into_iter().filter(|mark| attribute(mark, "tabindex").is_none());
    assert_eq!(unreached.count(), 0);
}

#[test]
fn charts_of_a_page_are_recolored_in_the_dark() {
    let dom = parsed(&sweep("a").to_html());
    let style = text(&all(&dom, "style")[0]);
    let (_, dark) = style.split_once("@media screen and (prefers-color-scheme:dark){").unwrap();
    let shapes = ["rect", "polygon", "polyline", "line", "circle", "path", "text"];
    let shapes: Vec<_> = shapes.iter().flat_map(|name| all(&dom, name)).collect();
    let colors: Vec<String> = ["fill", "stroke"]
        .iter()
        .flat_map(|name| shapes.iter().filter_map(move |shape| Some((name, attribute(shape, name)?))))
        .filter(|(_, color)| color.starts_with('#'))
        .map(|(name, color)| format!("[{name}=\"{color}\"]{{"))
        .collect();
    assert!(colors.len() > 50, "{}", colors.len());
    assert!(colors.iter().all(|rule| dark.contains(rule)), "each color has a shade");
}

#[test]
fn charts_beyond_the_ninth_are_behind_a_selector() {
    let count = |sources: usize| {
        let mut page = sweep("a");
        let (columns, of_one) = rows_of_a_sweep("a");
        let rows = (0..sources).flat_map(|source| {
            of_one.iter().take(4).cloned().map(move |mut cells| {
                cells[1] = format!("s{source}").into();
                cells
            })
        });
        page.runs = runs(&columns, axes(), rows.collect());
        let dom = parsed(&page.to_html());
        let panels = all(&dom, "div")
            .into_iter()
            .filter(|div| attribute(div, "class").is_some_and(|it| it.starts_with("panels")));
        let figures: usize =
            panels.map(|div| div.children.borrow().iter().filter(|node| tag(node) == "figure").count()).sum();
        let hidden = all(&dom, "figure").iter().filter(|figure| attribute(figure, "hidden").is_some()).count();
        (figures, hidden, all(&dom, "option").len())
    };
    // Two figures of each source.
    assert_eq!(count(4), (8, 0, 0));
    assert_eq!(count(6), (12, 2, 3), "one of the three others is shown");
}

/// The headline of a table of ratios, whose axis is `bytes`: `(bytes, policy, reference, fixed arrivals, speedup, ratio
/// of mean read latencies, energy ratio)`.
fn headline_of(rows: &[(u64, &str, &str, bool, f64, f64, f64)]) -> Vec<String> {
    let texts = ["policy", "reference"].map(|name| CellColumn::new(name, CellKind::Text));
    let numbers = ["speedup", "read_latency_ratio", "energy_ratio"].map(|name| CellColumn::new(name, CellKind::Number));
    let columns = [
        &[CellColumn::new("bytes", CellKind::Count)][..],
        &texts,
        &[CellColumn::new("fixed_arrivals", CellKind::Flag)],
        &numbers,
    ]
    .concat();
    let row = |&(bytes, policy, reference, fixed, speedup, reads, energy): &(u64, &str, &str, bool, f64, f64, f64)| {
        vec![bytes.into(), policy.into(), reference.into(), fixed.into(), speedup.into(), reads.into(), energy.into()]
    };
    let runs = runs(&columns, vec!["bytes".to_owned()], rows.iter().map(row).collect());
    let html = Page { runs, ..sweep("a") }.to_html();
    let dom = parsed(&html);
    let is_headline = |list: &&Handle| attribute(list, "class").as_deref() == Some("headline");
    let lists = all(&dom, "ul");
    let items = lists.iter().filter(is_headline).flat_map(|list| list.children.borrow().clone());
    items.map(|item| text(&item)).filter(|item| !item.is_empty()).collect()
}

#[test]
fn the_page_begins_with_speedup_and_energy_ratio() {
    let dom = parsed(&sweep("a").to_html());
    assert_eq!(text(&all(&dom, "h2")[0]), "Speedup and energy ratio");
    let rows = [
        (64, "baseline", "baseline", false, 1.0, 1.0, 1.0),
        (64, "rowclone", "baseline", false, 10.0, 2.0, 30.0),
        (64, "psm-only", "baseline", false, 0.8, 2.0, 1.0),
    ];
    let expected =
        ["rowclone: 10× faster, 30× less dynamic energy", "psm-only: 1.2× slower, the dynamic energy of the reference"];
    assert_eq!(headline_of(&rows), expected);
    let without = rows.map(|(bytes, policy, ..)| (bytes, policy, "", false, f64::NAN, f64::NAN, f64::NAN));
    assert!(headline_of(&without).is_empty());
}

/// There is no mean, because the points ask different questions.
#[test]
fn the_headline_of_several_points_is_a_range_with_its_points() {
    let rows = [
        (64, "rowclone", "baseline", false, 0.99, 1.0, 5.0),
        (4096, "rowclone", "baseline", false, 11.625, 1.0, 5.0),
        (1024, "rowclone", "baseline", false, 4.0, 1.0, 5.0),
    ];
    let expected = ["rowclone: speedup 0.99 (bytes 64) to 11.6 (bytes 4,096), energy ratio 5.00 in each of 3 runs"];
    assert_eq!(headline_of(&rows), expected);
    let fixed =
        rows.map(|(bytes, policy, reference, _, speedup, ..)| (bytes, policy, reference, true, 1.0, speedup, 5.0));
    let expected = "rowclone: ratio of mean read latencies 0.99 (bytes 64) to 11.6 (bytes 4,096), energy ratio 5.00 in \
        each of 3 runs";
    assert_eq!(headline_of(&fixed), [expected]);
}

#[test]
fn decisions_of_a_table_are_summed_over_the_runs_of_a_policy() {
    let columns = ["policy", "decisions"].map(|name| CellColumn::new(name, CellKind::Text)).to_vec();
    let row = |policy: &str, decisions: &str| vec![policy.into(), decisions.into()];
    let rows = vec![
        row("rowclone", "copy channel partial-row 1 64; init fpm - 1 4096"),
        row("baseline", "copy channel policy 1 4096"),
        row("rowclone", "copy channel partial-row 2 128; copy fpm - 1 192"),
    ];
    let served = Served::of_all(&runs(&columns, Vec::new(), rows));
    let texts = served.iter().map(|served| {
        let Served { run, operation, mechanism, reason, count, bytes, share_of_bytes } = served;
        format!("{run} {operation} {mechanism} {reason} {count} {bytes} {share_of_bytes}")
    });
    let expected = [
        "rowclone copy channel partial-row 3 192 0.5",
        "rowclone copy fpm  1 192 0.5",
        "rowclone init fpm  1 4096 1",
        "baseline copy channel policy 1 4096 1",
    ];
    assert_eq!(texts.collect::<Vec<_>>(), expected);
}

#[test]
fn pictures_are_in_the_page_itself() {
    let picture = Image { name: "a.svg".to_owned(), media_type: "image/svg+xml", bytes: b"<svg/>".to_vec() };
    let page = Page { pictures: vec![picture], ..sweep("a") };
    assert!(page.to_html().contains("<img src=\"data:image/svg+xml;base64,PHN2Zy8+\""));
}

#[test]
fn a_page_of_very_many_runs_lists_the_first_with_a_caption() {
    let columns = vec![CellColumn::new("point", CellKind::Count), CellColumn::new("policy", CellKind::Text)];
    let rows = (0..2001_u64).map(|point| vec![point.into(), "rowclone".into()]).collect();
    let html = Page { runs: runs(&columns, Vec::new(), rows), ..sweep("a") }.to_html();
    assert!(html.contains("Every run: the first 2,000 of 2,001; results.csv has all"));
    assert!(html.contains("data-v=\"1999\"") && !html.contains("data-v=\"2000\""));
}

/// The texts of the legend, or all texts, of the charts whose titles have a prefix.
fn charts(page: &Page, title: &str) -> Vec<Vec<String>> {
    let dom = parsed(&page.to_html());
    let of_chart = |svg: &Handle| {
        let mut texts = Vec::new();
        walk(svg, &mut |node| texts.extend((tag(node) == "text").then(|| text(node))));
        texts
    };
    all(&dom, "svg").iter().map(of_chart).filter(|texts| texts.iter().any(|text| text.starts_with(title))).collect()
}

#[test]
fn a_chart_has_at_most_five_series_and_the_tables_have_all() {
    let columns = [("policy", CellKind::Text), ("source", CellKind::Text), ("dst", CellKind::Text)];
    let figures = ["makespan_ns", "copy_latency_mean_ns"].map(|name| (name, CellKind::Number));
    let columns: Vec<CellColumn> =
        columns.into_iter().chain(figures).map(|(name, kind)| CellColumn::new(name, kind)).collect();
    let row = |policy: usize, source: &str, dst: &str| {
        let ns = 100.0 * (policy + 1) as f64;
        vec![format!("p{policy}").into(), source.into(), dst.into(), ns.into(), ns.into()]
    };
    let sources = ["same-subarray", "other-bank", "same-bank"];
    let of = |policies: usize| {
        let rows = (0..policies).flat_map(|policy| {
            sources.into_iter().flat_map(move |source| ["0x40_0000", "0x80_0000"].map(|dst| row(policy, source, dst)))
        });
        let axes = ["source", "dst"].map(str::to_owned).to_vec();
        Page { runs: runs(&columns, axes, rows.collect()), ..sweep("a") }
    };
    // A place per value of the longest axis, a chart per value of the other.
    let five = charts(&of(5), "Copy latency, mean, by source");
    assert_eq!(five.len(), 2, "{five:?}");
    for name in ["p4", "same-bank", "Copy latency, mean, by source: destination 0x40_0000"] {
        assert!(five[0].contains(&name.to_owned()), "{name}: {five:?}");
    }
    let six = of(6);
    assert!(charts(&six, "Copy latency").iter().all(|chart| !chart.contains(&"p5".to_owned())));
    let html = six.to_html();
    assert!(html.contains("Charts show the first 5 of 6 policies; the tables have all."));
    assert_eq!(body(&parsed(&html), "runs").len(), 36);
}

#[test]
fn many_policies_with_placements_have_a_chart_per_placement() {
    let columns = ["policy", "placement", "bytes"].map(|name| CellColumn::new(name, CellKind::Text));
    let columns: Vec<CellColumn> =
        columns.into_iter().chain([CellColumn::new("copy_latency_mean_ns", CellKind::Number)]).collect();
    let row = |policy: &str, placement: &str, bytes: u32| {
        vec![policy.into(), placement.into(), bytes.to_string().into(), f64::from(bytes).into()]
    };
    let pairs =
        ["baseline", "psm-only", "rowclone"].into_iter().flat_map(|policy| ["buddy", "random"].map(|it| (policy, it)));
    let rows = pairs.flat_map(|(policy, placement)| [64, 4096].map(|bytes| row(policy, placement, bytes))).collect();
    let page = Page { runs: runs(&columns, vec!["bytes".to_owned()], rows), ..sweep("a") };
    let found = charts(&page, "Copy latency, mean, by bytes: ");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[1].contains(&"rowclone".to_owned()) && found[1].iter().any(|text| text.ends_with("random")),
        "{found:?}"
    );
}

#[test]
fn of_many_parts_of_a_bar_the_greatest_are_named_and_the_others_summed() {
    let parts = [("a", 1.0), ("b", 6.0), ("c", 5.0), ("d", 4.0), ("e", 3.0), ("f", 2.0)];
    let name = figures::named_parts(parts);
    let of_bar = figures::summed(parts.iter().map(|(part, value)| ("x".to_owned(), name(part), *value)));
    let found: Vec<(&str, f64)> = of_bar.iter().map(|(_, part, value)| (part.as_str(), *value)).collect();
    assert_eq!(found, [("other", 3.0), ("b", 6.0), ("c", 5.0), ("d", 4.0), ("e", 3.0)], "a and f are 3");
    let name = figures::named_parts(parts[1..].iter().copied());
    assert_eq!(
        parts[1..].iter().map(|(part, _)| name(part)).collect::<Vec<_>>(),
        ["b", "c", "d", "e", "f"],
        "five fit"
    );
}
