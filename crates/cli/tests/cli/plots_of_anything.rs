//! Whatever stands in a table, it is drawn or refused.

use proptest::prelude::*;
use report::plot::{ChartKind, ChartRequest, Extent, Picture, Spacing, Table, svg};

fn cell() -> impl Strategy<Value = String> {
    let odd = [
        "",
        " ",
        "0",
        "-0",
        "-1",
        "1",
        "1.0",
        "2",
        "64",
        "4096",
        "1e308",
        "-1e308",
        "1e-320",
        "1e15",
        "nan",
        "inf",
        "x",
        "a, \"quoted\" name",
        "true",
        "<&>",
        "\u{1f600}",
        "a name that is far too long for any axis of any picture at all",
    ];
    prop_oneof![
        3 => prop::sample::select(odd.to_vec()).prop_map(str::to_owned),
        2 => (-1000i32..1000).prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_map(|number| number.to_string()),
    ]
}

fn request() -> impl Strategy<Value = ChartRequest> {
    let columns = ["a_bytes", "b_ns", "c_ns", "d_share", "e"].map(str::to_owned).to_vec();
    let some = |least: usize, most: usize| prop::sample::subsequence(columns.clone(), least..=most);
    let spacing = || prop::sample::select(vec![Spacing::Linear, Spacing::Log]);
    let kind = prop::sample::select(ChartKind::ALL.map(|(_, kind)| kind).to_vec());
    (kind, prop::sample::select(columns.clone()), some(1, 2), some(0, 2), spacing(), spacing(), any::<bool>()).prop_map(
        |(kind, x, y, by, x_spacing, y_spacing, crossovers)| ChartRequest {
            kind,
            x,
            y,
            by,
            conditions: Vec::new(),
            x_spacing,
            y_spacing,
            title: Some("A title".to_owned()),
            x_label: None,
            y_label: None,
            crossovers: crossovers && kind == ChartKind::Lines,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_table_of_anything_is_drawn_or_refused(
        rows in prop::collection::vec(prop::collection::vec(cell(), 5), 0..12),
        others in prop::collection::vec(prop::collection::vec(cell(), 5), 0..4),
        request in request(),
    ) {
        let columns = ["a_bytes", "b_ns", "c_ns", "d_share", "e"].map(str::to_owned).to_vec();
        let table = Table::new(columns.clone(), rows).unwrap();
        if let Ok(mut drawing) = request.draw(&table) {
            let published = drawing.add_published(&Table::new(columns, others).unwrap());
            prop_assume!(published.is_ok() || drawing.chart.published.is_empty());
            let picture = Picture::of(&drawing.chart, Extent::COLUMN);
            let document = svg(&picture);
            prop_assert!(!document.contains("NaN") && !document.contains("\"inf"), "{document}");
        }
    }

    #[test]
    fn any_bytes_are_a_table_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Table::read(&bytes[..]);
    }
}
