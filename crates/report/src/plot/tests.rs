//! Laws of whole charts.

use std::fmt::Write as _;

use super::font::Size;
use super::picture::{Anchor, At, Direction, Shape};
use super::*;

/// A table as a sweep gives it: sizes, policies and seeds; the second figure has an empty cell.
fn table() -> Table {
    let mut text =
        "operation.0.bytes,policy,seed,copy_latency_ns,energy_activate_nj,energy_read_io_nj,energy_nothing_nj\n"
            .to_owned();
    for exponent in 0..9 {
        for (policy, cost) in [("channel", 8.5), ("a-policy-with-a-long-name", 4.2), ("fpm", 0.1)] {
            for seed in 1..=3 {
                let latency = 50.0 + cost * 2f64.powi(exponent) * f64::from(20 + seed);
                let energy = if exponent == 3 && seed == 2 { String::new() } else { (latency * 0.7).to_string() };
                let bytes = 64 << exponent;
                writeln!(text, "{bytes},{policy},{seed},{latency},{energy},{cost},0").unwrap();
            }
        }
    }
    Table::read(text.as_bytes()).unwrap()
}

fn request(kind: Kind) -> Request {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    Request {
        kind,
        x: "operation.0.bytes".to_owned(),
        y: owned(&["copy_latency_ns"]),
        by: owned(&["policy"]),
        conditions: Vec::new(),
        x_spacing: Spacing::Linear,
        y_spacing: Spacing::Linear,
        title: Some("Copies over their size, under three policies, in a title that needs two lines".to_owned()),
        x_label: None,
        y_label: None,
        crossovers: false,
    }
}

fn parts() -> Vec<String> {
    ["energy_activate_nj", "energy_read_io_nj", "energy_nothing_nj"].map(str::to_owned).to_vec()
}

/// Charts of all kinds.
fn requests() -> Vec<Request> {
    let mut all: Vec<Request> = Kind::ALL.iter().map(|&(_, kind)| request(kind)).collect();
    let log = |kind| Request { y_spacing: Spacing::Log, ..request(kind) };
    all.extend([log(Kind::Bars), log(Kind::Boxes), log(Kind::Heat)]);
    all.push(Request { x_spacing: Spacing::Log, crossovers: true, ..log(Kind::Lines) });
    let few = Condition::parse_all(&["operation.0.bytes=64".to_owned(), "operation.0.bytes=4096".to_owned()]).unwrap();
    all.push(Request { y: parts(), conditions: few.clone(), ..request(Kind::Stacked) });
    all.push(Request { y: parts(), by: Vec::new(), ..request(Kind::Stacked) });
    all.push(Request { x: "policy".to_owned(), by: vec!["seed".to_owned()], conditions: few, ..request(Kind::Bars) });
    all.push(Request { x: "policy".to_owned(), by: Vec::new(), ..request(Kind::Boxes) });
    all.push(Request {
        x: "seed".to_owned(),
        by: vec!["policy".to_owned(), "operation.0.bytes".to_owned()],
        conditions: Condition::parse_all(&["policy=fpm".to_owned()]).unwrap(),
        ..request(Kind::Lines)
    });
    all
}

/// The rectangle that a text fills: from above its capitals to its baseline.
fn area(text: &str, at: At, size: Size, anchor: Anchor, direction: Direction) -> (At, At) {
    let width = size.width(text);
    let before = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    match direction {
        Direction::Right => ((at.0 - before, at.1 - size.capital()), (at.0 - before + width, at.1)),
        Direction::Up => ((at.0 - size.capital(), at.1 + before - width), (at.0, at.1 + before)),
    }
}

fn texts(picture: &Picture) -> Vec<(String, (At, At))> {
    let of = |shape: &Shape| match shape {
        Shape::Text { text, at, size, anchor, direction, .. } => {
            Some((text.clone(), area(text, *at, *size, *anchor, *direction)))
        }
        _ => None,
    };
    picture.shapes.iter().filter_map(of).collect()
}

#[test]
fn no_text_is_cut_off_by_the_edge_or_covers_another() {
    for request in requests() {
        let picture = Picture::of(&request.draw(&table()).unwrap().chart);
        let texts = texts(&picture);
        for (index, (text, (from, to))) in texts.iter().enumerate() {
            let inside = from.0 >= 0.2 && from.1 >= 0.2 && to.0 <= picture.width - 0.2 && to.1 <= picture.height - 0.2;
            assert!(inside, "{text:?} of {request:?} at {from:?} to {to:?}");
            for (other, (begin, end)) in &texts[..index] {
                let apart = to.0 < begin.0 || end.0 < from.0 || to.1 < begin.1 || end.1 < from.1;
                assert!(apart, "{text:?} and {other:?} of {request:?}");
            }
        }
    }
}

#[test]
fn every_point_is_drawn_and_says_its_value() {
    for request in requests() {
        let drawing = request.draw(&table()).unwrap();
        let picture = Picture::of(&drawing.chart);
        assert_eq!(picture.values(), drawing.chart.marks(), "{request:?}");
        let document = svg(&picture).unwrap();
        assert_eq!(document.matches("<title>").count(), 1 + drawing.chart.marks(), "{request:?}");
        for value in &picture.values {
            let ((left, top), (right, bottom)) = value.area;
            assert!(left >= 0.0 && right <= picture.width && top >= 0.0 && bottom <= picture.height, "{value:?}");
        }
    }
}

#[test]
fn an_svg_says_how_wide_each_text_is() {
    for request in requests() {
        let picture = Picture::of(&request.draw(&table()).unwrap().chart);
        let document = svg(&picture).unwrap();
        let texts: Vec<&str> = document.split("<text textLength=\"").skip(1).collect();
        assert_eq!(texts.len(), document.matches("<text ").count(), "{request:?}");
        for text in texts {
            let (width, rest) = text.split_once('"').unwrap();
            let (_, words) = rest.split_once('>').unwrap();
            let size = rest.split_once("font-size=\"").unwrap().1.split_once('"').unwrap().0;
            let words = words.split_once("</text>").unwrap().0.trim();
            let expected = Size(size.parse().unwrap()).width(words);
            assert!((width.parse::<f64>().unwrap() - expected).abs() < 0.01 * expected + 1.0, "{words}: {width}");
        }
    }
}

#[test]
fn each_kind_shows_the_values_of_the_table() {
    let values: f64 = 3.0 * 9.0 * 3.0;
    for (_, kind) in Kind::ALL {
        let chart = request(kind).draw(&table()).unwrap().chart;
        assert_eq!((chart.series.len(), chart.marks(), chart.repeated()), (3, 27, 3), "{kind:?}");
        let all: usize = chart.series.iter().flat_map(|series| &series.points).map(|point| point.values.len()).sum();
        assert!((all as f64 - values).abs() < 0.5, "{kind:?}");
    }
    let chart = request(Kind::Lines).draw(&table()).unwrap().chart;
    let point = &chart.series[2].points[0];
    assert!((point.x - 64.0).abs() < 1e-9 && (point.median() - (50.0 + 0.1 * 22.0)).abs() < 1e-9, "{point:?}");
}

#[test]
fn what_is_empty_is_left_out_and_counted_and_what_differs_is_named() {
    let drawing = Request { y: parts(), ..request(Kind::Stacked) };
    assert!(drawing.draw(&table()).is_err(), "27 bars with names have no room");
    let drawing = Request { y: vec!["energy_activate_nj".to_owned()], ..request(Kind::Lines) }.draw(&table()).unwrap();
    assert_eq!((drawing.empty, drawing.differing), (3, vec!["seed".to_owned()]));
}

#[test]
fn parts_that_are_nothing_everywhere_are_not_in_the_legend() {
    let chart = Request { y: parts(), by: Vec::new(), ..request(Kind::Stacked) }.draw(&table()).unwrap().chart;
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!((names, chart.y.label.as_str()), (vec!["activate", "read io"], "energy"));
}

#[test]
fn published_values_take_up_the_look_of_their_series_or_have_one_of_their_own() {
    let published = "operation.0.bytes,policy,copy_latency_ns\n4096,fpm,90\n4096,other,95\n128,channel,60\n";
    let published = Table::read(published.as_bytes()).unwrap();
    for kind in [Kind::Lines, Kind::Bars, Kind::Boxes] {
        let mut drawing = request(kind).draw(&table()).unwrap();
        drawing.add_published(&published).unwrap();
        let picture = Picture::of(&drawing.chart);
        assert_eq!(picture.values(), drawing.chart.marks() + 3, "{kind:?}");
        let words: Vec<String> = texts(&picture).into_iter().map(|(text, _)| text).collect();
        assert!(words.contains(&"published".to_owned()) && words.contains(&"other, published".to_owned()), "{words:?}");
    }
    let narrow = Request {
        conditions: Condition::parse_all(&["operation.0.bytes=128".to_owned(), "operation.0.bytes=64".to_owned()])
            .unwrap(),
        ..request(Kind::Bars)
    };
    let mut drawing = narrow.draw(&table()).unwrap();
    drawing.add_published(&published).unwrap();
    assert_eq!(drawing.chart.published.len(), 1, "values that conditions leave out are left out of both tables");
    assert!(request(Kind::Heat).draw(&table()).unwrap().add_published(&published).is_err());
}

#[test]
fn the_published_total_stands_over_its_bar() {
    let published =
        Table::read("operation.0.bytes,policy,copy_latency_ns\n64,fpm,90\n64,channel,60\n9,fpm,1\n".as_bytes())
            .unwrap();
    let mut drawing = request(Kind::Stacked).draw(&table()).unwrap();
    drawing.add_published(&published).unwrap();
    let points = &drawing.chart.published[0].points;
    assert_eq!(points.len(), 1);
    assert!((points[0].x, points[0].median()) == (0.0, 150.0), "{points:?}");
    assert_eq!(drawing.unplaced, 1);
}

#[test]
fn a_png_is_as_large_as_the_picture_and_shows_it() {
    for request in [request(Kind::Lines), request(Kind::Heat)] {
        let picture = Picture::of(&request.draw(&table()).unwrap().chart);
        let file = png(&picture).unwrap();
        let mut reader = ::png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let dots = |mm: f64| (mm / 25.4 * 300.0).ceil();
        let info = reader.info();
        assert_eq!((f64::from(info.width), f64::from(info.height)), (dots(picture.width), dots(picture.height)));
        let (width, height) = (info.width as usize, info.height as usize);
        let mut dots = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut dots).unwrap();
        let white = dots.chunks(3).filter(|dot| *dot == [255, 255, 255]).count();
        assert!(white > width * height / 10 && white < width * height * 99 / 100, "{white} of {width} x {height}");
        // The edges are free.
        assert!(dots[..width * 3].iter().chain(&dots[(height - 1) * width * 3..]).all(|&part| part == 255));
    }
}

#[test]
fn a_chart_that_cannot_be_read_is_refused() {
    let lines = || request(Kind::Lines);
    let named = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    for (request, message) in [
        (Request { x: "size".into(), ..lines() }, "there is no column `size`"),
        (Request { y: named(&["policy"]), ..lines() }, "`policy` is \"channel\", but must be a number"),
        (
            Request { y: named(&["copy_latency_ns", "energy_activate_nj"]), ..lines() },
            "`copy_latency_ns` and `energy_activate_nj` have different units",
        ),
        (
            Request { y: named(&["energy_nothing_nj"]), y_spacing: Spacing::Log, ..lines() },
            "`energy_nothing_nj` is 0, which a logarithmic axis cannot show",
        ),
        (
            Request { x: "policy".into(), x_spacing: Spacing::Log, ..lines() },
            "a logarithmic x axis needs numbers, but the values of `policy` are no numbers",
        ),
        (
            Request { x_spacing: Spacing::Log, ..request(Kind::Bars) },
            "a logarithmic x axis needs numbers, but a chart of kind `bar` has one place a value across",
        ),
        (Request { by: named(&["copy_latency_ns"]), ..lines() }, "81 series, but at most 16 can be told apart"),
        (Request { x: "copy_latency_ns".into(), ..request(Kind::Bars) }, "243 bars, but there is room for 120"),
        (Request { by: Vec::new(), ..request(Kind::Heat) }, "a heat map shows one column by two others"),
        (
            Request { y_spacing: Spacing::Log, ..request(Kind::Stacked) },
            "a stacked bar cannot stand on a logarithmic axis: its parts would not add up",
        ),
        (Request { crossovers: true, ..request(Kind::Bars) }, "only lines can cross"),
        (Request { y: Vec::new(), ..lines() }, "no column is given for `y`"),
    ] {
        assert_eq!(request.draw(&table()).unwrap_err().message, message);
    }
    let empty = Table::read("a,b\n,1\n2,\n".as_bytes()).unwrap();
    let none = Request { x: "a".into(), y: named(&["b"]), by: Vec::new(), ..lines() }.draw(&empty).unwrap_err();
    assert_eq!(none.message, "nothing is left to draw: all cells of `x` or `y` are empty");
    let negative = Table::read("a,b\n1,2\n2,-1\n".as_bytes()).unwrap();
    let parts = Request { x: "a".into(), y: named(&["b"]), by: Vec::new(), ..request(Kind::Stacked) };
    let error = parts.draw(&negative).unwrap_err();
    assert_eq!((error.line, error.message.as_str()), (Some(3), "`b` is -1, which cannot be a part of a bar"));
}
