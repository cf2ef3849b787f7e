//! Properties of whole charts.

use std::fmt::Write as _;

use resvg::usvg::roxmltree::{Document, Node};

use super::font::Size;
use super::paper::{At, DOTS_PER_MM, dots};
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

fn request(kind: ChartKind) -> ChartRequest {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    ChartRequest {
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
fn requests() -> Vec<ChartRequest> {
    let mut all: Vec<ChartRequest> = ChartKind::ALL.iter().map(|&(_, kind)| request(kind)).collect();
    let log = |kind| ChartRequest { y_spacing: Spacing::Log, ..request(kind) };
    all.extend([log(ChartKind::Boxes), log(ChartKind::Heat)]);
    all.push(ChartRequest { x_spacing: Spacing::Log, crossovers: true, ..log(ChartKind::Lines) });
    let few = Condition::parse_all(&["operation.0.bytes=64".to_owned(), "operation.0.bytes=4096".to_owned()]).unwrap();
    all.push(ChartRequest { y: parts(), conditions: few.clone(), ..request(ChartKind::Stacked) });
    all.push(ChartRequest { y: parts(), by: Vec::new(), ..request(ChartKind::Stacked) });
    all.push(ChartRequest {
        x: "policy".to_owned(),
        by: vec!["seed".to_owned()],
        conditions: few,
        ..request(ChartKind::Bars)
    });
    all.push(ChartRequest { x: "policy".to_owned(), by: Vec::new(), ..request(ChartKind::Boxes) });
    all.push(ChartRequest {
        x: "seed".to_owned(),
        by: vec!["policy".to_owned(), "operation.0.bytes".to_owned()],
        conditions: Condition::parse_all(&["policy=fpm".to_owned()]).unwrap(),
        ..request(ChartKind::Lines)
    });
    all
}

/// A rectangle: its upper left and its lower right corner.
type Area = (At, At);

/// A number of an attribute.
fn number_of(node: Node<'_, '_>, attribute: &str) -> f64 {
    let text = node.attribute(attribute).unwrap_or_else(|| panic!("{node:?} has no {attribute}"));
    text.trim_end_matches("em").parse().unwrap()
}

/// The texts of a picture, and the rectangle that each fills from above its capitals to its baseline.
fn texts(picture: &Picture) -> Vec<(String, Area)> {
    let document = svg(picture);
    let document = Document::parse(&document).unwrap();
    let of = |node: Node<'_, '_>| {
        let number = |attribute| number_of(node, attribute);
        let em = number("font-size");
        let (text, width) = (node.text().unwrap().to_owned(), Size(em).width(node.text().unwrap()));
        let before = match node.attribute("text-anchor").unwrap() {
            "start" => 0.0,
            "middle" => width / 2.0,
            _ => width,
        };
        let (down, x, y) = (number("dy") * em, number("x"), number("y"));
        let capital = Size(em).capital();
        let at = |x: f64, y: f64| (x.round() as i32, y.round() as i32);
        if let Some(turn) = node.attribute("transform") {
            assert_eq!(turn, format!("rotate(270, {x}, {y})"));
            (text, (at(x + down - capital, y + before - width), at(x + down, y + before)))
        } else {
            (text, (at(x - before, y + down - capital), at(x - before + width, y + down)))
        }
    };
    document.descendants().filter(|node| node.has_tag_name("text")).map(of).collect()
}

fn words(picture: &Picture) -> Vec<String> {
    texts(picture).into_iter().map(|(text, _)| text).collect()
}

fn picture(request: &ChartRequest) -> Picture {
    Picture::of(&request.draw(&table()).unwrap().chart, Extent::COLUMN)
}

/// The titles of the marks of a picture.
fn titles(picture: &Picture) -> Vec<String> {
    let document = svg(picture);
    let document = Document::parse(&document).unwrap();
    let titles = document.descendants().filter(|node| node.has_tag_name("title")).skip(1);
    titles.map(|title| title.text().unwrap().to_owned()).collect()
}

#[test]
fn no_text_is_cut_off_by_the_edge_or_covers_another() {
    for (request, extent) in requests().iter().flat_map(|it| [(it, Extent::COLUMN), (it, Extent::PAGE)]) {
        let picture = Picture::of(&request.draw(&table()).unwrap().chart, extent);
        let (width, height) = (picture.size.0.cast_signed(), picture.size.1.cast_signed());
        let texts = texts(&picture);
        for (index, (text, (from, to))) in texts.iter().enumerate() {
            let inside = from.0 >= 0 && from.1 >= 0 && to.0 <= width && to.1 <= height;
            assert!(inside, "{text:?} of {request:?} at {from:?} to {to:?}");
            for (other, (begin, end)) in &texts[..index] {
                let apart = to.0 < begin.0 || end.0 < from.0 || to.1 < begin.1 || end.1 < from.1;
                assert!(apart, "{text:?} and {other:?} of {request:?}");
            }
        }
    }
}

#[test]
fn every_chart_has_a_title_and_axes_with_quantity_and_unit() {
    for request in requests() {
        let words = words(&picture(&request)).join(" ");
        let y = if request.y.len() > 1 { "energy (" } else { "copy latency (" };
        assert!(words.contains("Copies over their size, under"), "{words}");
        assert!(words.contains(y) && words.contains("s)") || words.contains("J)"), "{words}");
        let x = match request.x.as_str() {
            "operation.0.bytes" => "bytes",
            other => other,
        };
        assert!(words.contains(x), "{words}");
    }
    let untitled = ChartRequest { title: None, ..request(ChartKind::Lines) };
    let title = untitled.draw(&table()).unwrap().chart.title;
    assert_eq!(title, "Copy latency over bytes, for each policy");
}

#[test]
fn ticks_stand_at_measured_values_only() {
    for kind in [ChartKind::Lines, ChartKind::Bars, ChartKind::Boxes, ChartKind::Heat] {
        let words = words(&picture(&request(kind)));
        let sizes: Vec<&String> = words.iter().filter(|text| text.ends_with(" B") || text.ends_with(" KiB")).collect();
        let measured = |text: &String| {
            (0..9).any(|exponent| Unit::Bytes { exponent: 0 }.write(f64::from(64 << exponent)) == *text)
        };
        assert!(sizes.len() > 3 && sizes.iter().all(|text| measured(text)), "{kind:?}: {sizes:?}");
    }
}

#[test]
fn fewer_than_five_values_have_no_box() {
    let values = |count: usize| {
        let rows = (0..count).map(|seed| format!("a,{}\n", seed * seed)).collect::<Vec<_>>().concat();
        let table = Table::read(format!("policy,v_ns\n{rows}").as_bytes()).unwrap();
        let request =
            ChartRequest { x: "policy".into(), y: vec!["v_ns".into()], by: Vec::new(), ..request(ChartKind::Boxes) };
        Picture::of(&request.draw(&table).unwrap().chart, Extent::COLUMN)
    };
    let symbols = |picture: &Picture| picture.elements.matches("<circle").count();
    assert_eq!((symbols(&values(4)), symbols(&values(5))), (4, 0));
    assert!(words(&values(4)).concat().contains("each value is a mark"));
    assert!(words(&values(5)).concat().contains("box: quartiles"));
}

#[test]
fn every_value_has_a_mark_with_a_title_that_takes_the_focus() {
    for request in requests() {
        let drawing = request.draw(&table()).unwrap();
        let picture = Picture::of(&drawing.chart, Extent::COLUMN);
        assert_eq!(picture.values(), drawing.chart.marks(), "{request:?}");
        for document in [svg(&picture), inline_svg(&picture)] {
            let marks = document.matches("<g class=\"mark\" role=\"img\" tabindex=\"0\"><title>").count();
            assert_eq!(marks, drawing.chart.marks(), "{request:?}");
        }
    }
    let titles = titles(&picture(&request(ChartKind::Lines)));
    assert!(titles.contains(&"fpm, 64 B: 52.2 ns (median of 3, 52.1 ns to 52.3 ns)".to_owned()), "{titles:?}");
}

#[test]
fn marks_of_a_line_that_touch_are_thinned_and_those_of_others_are_drawn() {
    let rows = (0..300).map(|it| format!("{it},100,a\n")).chain((0..5).map(|it| format!("0,{},b{it}\n", 100 + it)));
    let table = Table::read(format!("x,v_ns,policy\n{}", rows.collect::<Vec<_>>().concat()).as_bytes()).unwrap();
    let request = ChartRequest { x: "x".into(), y: vec!["v_ns".into()], ..request(ChartKind::Lines) };
    let picture = Picture::of(&request.draw(&table).unwrap().chart, Extent::COLUMN);
    let hidden = picture.elements.matches("fill=\"none\" pointer-events=\"all\"").count();
    assert_eq!(picture.values(), 305, "each value can be reached");
    assert!((200..290).contains(&hidden), "{hidden} of 300");
    let alone = ChartRequest { conditions: Condition::parse_all(&["x=0".to_owned()]).unwrap(), ..request };
    let picture = Picture::of(&alone.draw(&table).unwrap().chart, Extent::COLUMN);
    assert!(!picture.elements.contains("pointer-events"));
}

/// The middle of the mark of a value.
fn middle(picture: &Picture, title: &str) -> At {
    let document = svg(picture);
    let document = Document::parse(&document).unwrap();
    let is_title = |node: &Node<'_, '_>| node.has_tag_name("title") && node.text().unwrap().starts_with(title);
    let shape = document.descendants().skip_while(|node| !is_title(node)).find_map(|node| {
        let number = |attribute| number_of(node, attribute);
        match node.tag_name().name() {
            "circle" => Some((number("cx"), number("cy"))),
            "rect" => Some((number("x") + number("width") / 2.0, number("y") + number("height") / 2.0)),
            _ => None,
        }
    });
    let (x, y) = shape.unwrap_or_else(|| panic!("{title}"));
    (x.round() as i32, y.round() as i32)
}

#[test]
fn marks_lie_where_their_values_are() {
    let rows = [("a", 0.0), ("b", 50.0), ("c", 100.0)];
    let text = rows.map(|(name, value)| format!("{name},{value}\n")).concat();
    let table = Table::read(format!("policy,v\n{text}").as_bytes()).unwrap();
    let of = |kind| ChartRequest { x: "policy".into(), y: vec!["v".into()], by: Vec::new(), ..request(kind) };
    let lines = Picture::of(&of(ChartKind::Lines).draw(&table).unwrap().chart, Extent::COLUMN);
    let [low, half, high] = rows.map(|(name, _)| middle(&lines, name));
    assert!((low.1 - high.1 - dots(44.0)).abs() <= 2, "0 and 100 are the ends of the axis: {low:?} {high:?}");
    assert!((i32::midpoint(low.1, high.1) - half.1).abs() <= 1 && ((half.0 - low.0) - (high.0 - half.0)).abs() <= 1);
    let bars = Picture::of(&of(ChartKind::Bars).draw(&table).unwrap().chart, Extent::COLUMN);
    let [_, half, high] = rows.map(|(name, _)| middle(&bars, name).1);
    assert!((half - high - dots(11.0)).abs() <= 1, "the middle of a bar of half the height: {half} {high}");
}

#[test]
fn names_without_room_lie_one_below_another() {
    let rows = (0..12).map(|it| format!("a policy with a very long name {it},{it}\n")).collect::<Vec<_>>().concat();
    let table = Table::read(format!("policy,v_ns\n{rows}").as_bytes()).unwrap();
    let request =
        ChartRequest { x: "policy".into(), y: vec!["v_ns".into()], by: Vec::new(), ..request(ChartKind::Bars) };
    let picture = Picture::of(&request.draw(&table).unwrap().chart, Extent::COLUMN);
    let texts = texts(&picture);
    let names: Vec<At> = texts.iter().filter(|(text, _)| text.starts_with("a policy with")).map(|it| it.1.0).collect();
    assert_eq!(names.len(), 12);
    assert!(names.windows(2).all(|pair| pair[0].1 < pair[1].1), "{names:?}");
}

#[test]
fn the_dark_scheme_has_a_shade_of_every_color() {
    let sheet = style_sheet();
    let (screen, rules) = sheet.split_once("@media screen and (prefers-color-scheme:dark){").unwrap();
    assert!(!screen.contains("fill") && rules.contains("[fill=\"#FFFFFF\"]{fill:#"), "on paper pictures are light");
    for request in requests().into_iter().filter(|request| request.kind != ChartKind::Heat) {
        let document = svg(&picture(&request));
        assert!(document.contains("prefers-color-scheme:dark"), "a picture follows the scheme without a page");
        let document = Document::parse(&document).unwrap();
        for (node, name) in document.descendants().flat_map(|node| ["fill", "stroke"].map(|name| (node, name))) {
            let color = node.attribute(name).filter(|color| *color != "none");
            assert!(color.is_none_or(|color| rules.contains(&format!("[{name}=\"{color}\"]{{"))), "{node:?}");
        }
    }
}

#[test]
fn an_svg_has_the_width_of_each_text() {
    for request in requests() {
        let document = svg(&picture(&request));
        let texts: Vec<&str> = document.split(" textLength=\"").skip(1).collect();
        assert_eq!(texts.len(), document.matches("<text ").count(), "{request:?}");
        for text in texts {
            let (width, rest) = text.split_once('"').unwrap();
            let words = &rest.split_once('>').unwrap().1.split_once("</text>").unwrap().0.replace("&apos;", "'");
            let sizes = [Size::TITLE, Size::LABEL, Size::TICK, Size::NOTE];
            let widths = sizes.map(|size| size.width(words) * DOTS_PER_MM);
            let width: f64 = width.parse().unwrap();
            assert!(widths.iter().any(|expected| (width - expected).abs() < 0.01 * expected + 2.0), "{words}: {width}");
        }
    }
}

#[test]
fn each_kind_shows_the_values_of_the_table() {
    let values: f64 = 3.0 * 9.0 * 3.0;
    for (_, kind) in ChartKind::ALL {
        let chart = request(kind).draw(&table()).unwrap().chart;
        assert_eq!((chart.series.len(), chart.marks(), chart.repeated()), (3, 27, 3), "{kind:?}");
        let all: usize = chart.series.iter().flat_map(|series| &series.points).map(|point| point.values.len()).sum();
        assert!((all as f64 - values).abs() < 0.5, "{kind:?}");
    }
    let chart = request(ChartKind::Lines).draw(&table()).unwrap().chart;
    let point = &chart.series[2].points[0];
    assert!((point.x - 64.0).abs() < 1e-9 && (point.median() - (50.0 + 0.1 * 22.0)).abs() < 1e-9, "{point:?}");
}

#[test]
fn what_is_empty_is_left_out_and_counted_and_what_differs_is_named() {
    let drawing = ChartRequest { y: parts(), ..request(ChartKind::Stacked) };
    assert!(drawing.draw(&table()).is_err(), "27 bars with names have no room");
    let drawing =
        ChartRequest { y: vec!["energy_activate_nj".to_owned()], ..request(ChartKind::Lines) }.draw(&table()).unwrap();
    assert_eq!((drawing.empty, drawing.differing), (3, vec!["seed".to_owned()]));
}

#[test]
fn parts_that_are_nothing_everywhere_are_not_in_the_legend() {
    let chart =
        ChartRequest { y: parts(), by: Vec::new(), ..request(ChartKind::Stacked) }.draw(&table()).unwrap().chart;
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!((names, chart.y.label.as_str()), (vec!["activate", "read I/O"], "energy"));
}

#[test]
fn published_values_take_up_the_look_of_their_series_or_have_one_of_their_own() {
    let published = "operation.0.bytes,policy,copy_latency_ns\n4096,fpm,90\n4096,other,95\n128,channel,60\n";
    let published = Table::read(published.as_bytes()).unwrap();
    for kind in [ChartKind::Lines, ChartKind::Bars, ChartKind::Boxes] {
        let mut drawing = request(kind).draw(&table()).unwrap();
        drawing.add_published(&published).unwrap();
        let picture = Picture::of(&drawing.chart, Extent::COLUMN);
        assert_eq!(picture.values(), drawing.chart.marks() + 3, "{kind:?}");
        let words = words(&picture);
        assert!(words.contains(&"published".to_owned()) && words.contains(&"other, published".to_owned()), "{words:?}");
    }
    let narrow = ChartRequest {
        conditions: Condition::parse_all(&["operation.0.bytes=128".to_owned(), "operation.0.bytes=64".to_owned()])
            .unwrap(),
        ..request(ChartKind::Bars)
    };
    let mut drawing = narrow.draw(&table()).unwrap();
    drawing.add_published(&published).unwrap();
    assert_eq!(drawing.chart.published.len(), 1, "values that conditions leave out are left out of both tables");
    assert!(request(ChartKind::Heat).draw(&table()).unwrap().add_published(&published).is_err());
}

#[test]
fn the_published_total_stands_over_its_bar() {
    let published =
        Table::read("operation.0.bytes,policy,copy_latency_ns\n64,fpm,90\n64,channel,60\n9,fpm,1\n".as_bytes())
            .unwrap();
    let mut drawing = request(ChartKind::Stacked).draw(&table()).unwrap();
    drawing.add_published(&published).unwrap();
    let points = &drawing.chart.published[0].points;
    assert_eq!(points.len(), 1);
    assert!((points[0].x, points[0].median()) == (0.0, 150.0), "{points:?}");
    assert_eq!(drawing.unplaced, 1);
}

#[test]
fn a_png_is_as_large_as_the_picture_and_shows_it() {
    for request in [request(ChartKind::Lines), request(ChartKind::Heat)] {
        let picture = picture(&request);
        let file = png(&picture).unwrap();
        let mut reader = ::png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let info = reader.info();
        assert_eq!((info.width, info.height), (picture.size.0.div_ceil(3), picture.size.1.div_ceil(3)));
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
    let lines = || request(ChartKind::Lines);
    let named = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    for (request, message) in [
        (ChartRequest { x: "size".into(), ..lines() }, "there is no column `size`"),
        (ChartRequest { y: named(&["policy"]), ..lines() }, "`policy` is \"channel\", but must be a number"),
        (
            ChartRequest { y: named(&["copy_latency_ns", "energy_activate_nj"]), ..lines() },
            "`copy_latency_ns` and `energy_activate_nj` have different units",
        ),
        (
            ChartRequest { y: named(&["energy_nothing_nj"]), y_spacing: Spacing::Log, ..lines() },
            "`energy_nothing_nj` is 0, which a logarithmic axis cannot show",
        ),
        (
            ChartRequest { x: "policy".into(), x_spacing: Spacing::Log, ..lines() },
            "a logarithmic x axis needs numbers, but the values of `policy` are not numbers",
        ),
        (
            ChartRequest { x_spacing: Spacing::Log, ..request(ChartKind::Bars) },
            "a logarithmic x axis needs numbers, but a chart of kind `bar` has one place per value across",
        ),
        (ChartRequest { by: named(&["copy_latency_ns"]), ..lines() }, "81 series, but at most 16 can be told apart"),
        (
            ChartRequest { x: "copy_latency_ns".into(), ..request(ChartKind::Bars) },
            "243 bars, but there is room for 120",
        ),
        (ChartRequest { by: Vec::new(), ..request(ChartKind::Heat) }, "a heat map shows one column by two others"),
        (
            ChartRequest { y_spacing: Spacing::Log, ..request(ChartKind::Bars) },
            "a bar cannot stand on a logarithmic axis: its length has no meaning there",
        ),
        (
            ChartRequest { y_spacing: Spacing::Log, ..request(ChartKind::Stacked) },
            "a stacked bar cannot stand on a logarithmic axis: its parts would not add up",
        ),
        (ChartRequest { crossovers: true, ..request(ChartKind::Bars) }, "only lines can cross"),
        (ChartRequest { y: Vec::new(), ..lines() }, "no column is given for `y`"),
    ] {
        assert_eq!(request.draw(&table()).unwrap_err().message, message);
    }
    let empty = Table::read("a,b\n,1\n2,\n".as_bytes()).unwrap();
    let none = ChartRequest { x: "a".into(), y: named(&["b"]), by: Vec::new(), ..lines() }.draw(&empty).unwrap_err();
    assert_eq!(none.message, "nothing is left to draw: all cells of `x` or `y` are empty");
    let negative = Table::read("a,b\n1,2\n2,-1\n".as_bytes()).unwrap();
    let parts = ChartRequest { x: "a".into(), y: named(&["b"]), by: Vec::new(), ..request(ChartKind::Stacked) };
    let error = parts.draw(&negative).unwrap_err();
    assert_eq!((error.line, error.message.as_str()), (Some(3), "`b` is -1, which cannot be a part of a bar"));
}
