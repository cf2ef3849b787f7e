//! The sweeps that are shipped have the shapes that their first lines speak of.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Directory, run, workspace};

/// A row of results, by column.
struct Row(BTreeMap<String, String>);

impl Row {
    fn is(&self, column: &str, value: &str) -> bool {
        self.0[column] == value
    }

    fn number(&self, column: &str) -> f64 {
        self.0[column].parse().unwrap_or_else(|_| panic!("`{column}` is `{}`", self.0[column]))
    }
}

struct Rows(Vec<Row>);

/// The SVG files of a directory.
fn pictures(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|ending| ending == "svg")).collect()
}

/// What a picture says: its title, its values, and its texts. Where they stand may differ in the last digit between
/// machines.
fn words(picture: &Path) -> Vec<String> {
    said(picture, |piece| piece.starts_with("title>") || piece.starts_with("text "))
}

/// The values of a picture by their names, `random, 0.5`: each with its unit and its spread.
fn values(picture: &Path) -> BTreeMap<String, String> {
    let titles = said(picture, |piece| piece.starts_with("title>"));
    let values = titles.iter().skip(1).map(|title| title.split_once(": ").unwrap());
    values.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The texts of the elements of a picture that begin as wanted.
fn said(picture: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let text = fs::read_to_string(picture).unwrap_or_else(|error| panic!("{}: {error}", picture.display()));
    let words = text.split('<').filter(|piece| is_wanted(piece));
    words.map(|piece| piece.split_once('>').unwrap().1.trim().to_owned()).collect()
}

/// The picture of the gallery with the name of this one.
fn shown(picture: &Path) -> PathBuf {
    workspace().join("docs/gallery").join(picture.file_name().unwrap())
}

/// The values of a picture of the gallery, in per cent.
fn percentages(picture: &str) -> BTreeMap<String, f64> {
    let number = |value: &str| value.split_once(" %").unwrap().0.parse().unwrap();
    values(&shown(Path::new(picture))).into_iter().map(|(name, value)| (name, number(&value))).collect()
}

#[test]
fn the_gallery_shows_every_sweep_and_every_picture_once() {
    let page = fs::read_to_string(workspace().join("docs/gallery.md")).unwrap();
    let once = |wanted: &str| assert_eq!(page.matches(wanted).count(), 1, "{wanted}");
    for sweep in fs::read_dir(workspace().join("sweeps")).unwrap() {
        once(&format!("](../sweeps/{})", sweep.unwrap().file_name().display()));
    }
    let shown = pictures(&workspace().join("docs/gallery"));
    for picture in &shown {
        once(&format!("](gallery/{})", picture.file_name().unwrap().display()));
    }
    assert_eq!(page.matches("](gallery/").count(), shown.len());
}

impl Rows {
    /// All rows of a shipped sweep, which has no failing point; the gallery shows the pictures that it draws.
    fn of(sweep: &str) -> Rows {
        let directory = Directory::sound();
        let (rows, drawn) = Rows::drawn(&workspace().join(format!("sweeps/{sweep}.toml")), &directory.path("out"));
        for picture in drawn {
            let shown = shown(&picture);
            assert_eq!(words(&picture), words(&shown), "`cargo xtask gallery` draws {} anew", shown.display());
        }
        rows
    }

    /// The rows of a part of a shipped sweep that is too large for every test run: without the points at which a
    /// condition holds. The gallery shows the values that this part draws; `cargo xtask full` draws the whole.
    fn of_part(sweep: &str, without: &str) -> Rows {
        let directory = Directory::sound();
        let whole = fs::read_to_string(workspace().join(format!("sweeps/{sweep}.toml"))).unwrap();
        let scenarios = format!("{}/traces/", workspace().display());
        let part = whole.replace("../traces/", &scenarios) + &format!("\n[[exclude]]\nwhen = \"{without}\"\n");
        fs::write(directory.path("part.toml"), part).unwrap();
        let (rows, drawn) = Rows::drawn(&directory.path("part.toml"), &directory.path("out"));
        for picture in drawn {
            let (drawn, shown) = (values(&picture), values(&shown(&picture)));
            let new: Vec<_> = drawn.iter().filter(|(name, value)| shown.get(*name) != Some(value)).collect();
            assert!(!drawn.is_empty() && new.is_empty(), "`cargo xtask gallery` draws {new:?} anew");
        }
        rows
    }

    /// Runs a sweep; its rows, and its pictures.
    fn drawn(sweep: &Path, out: &Path) -> (Rows, Vec<PathBuf>) {
        let (code, _, stderr) = run(&["sweep", sweep.to_str().unwrap(), "--out", out.to_str().unwrap()]);
        assert_eq!(code, 0, "{stderr}");
        let drawn = pictures(out);
        assert!(!drawn.is_empty());
        let mut table = csv::Reader::from_path(out.join("results.csv")).unwrap();
        (Rows(table.deserialize().map(|row| Row(row.unwrap())).collect()), drawn)
    }

    /// The mean of a column over the rows with these values, of which there is at least one.
    fn mean(&self, column: &str, of: &[(&str, &str)]) -> f64 {
        let rows: Vec<&Row> = self.0.iter().filter(|row| of.iter().all(|(name, value)| row.is(name, value))).collect();
        assert!(!rows.is_empty(), "no row has {of:?}");
        rows.iter().map(|row| row.number(column)).sum::<f64>() / rows.len() as f64
    }

    /// Such means along a column, by its rising numbers.
    fn along(&self, axis: &str, column: &str, of: &[(&str, &str)]) -> Vec<f64> {
        let mut values: Vec<&str> = self.0.iter().map(|row| row.0[axis].as_str()).collect();
        values.sort_by(|a, b| a.parse::<f64>().unwrap().total_cmp(&b.parse().unwrap()));
        values.dedup();
        values.iter().map(|value| self.mean(column, &[of, &[(axis, value)]].concat())).collect()
    }
}

fn rises(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] < pair[1])
}

#[test]
fn fpm_is_for_whole_rows_and_then_far_ahead() {
    let rows = Rows::of("copy-size");
    let of =
        |policy, bytes| rows.mean("makespan_ns", &[("source", "same-subarray"), ("policy", policy), ("bytes", bytes)]);
    assert!((of("rowclone", "2048") - of("psm-only", "2048")).abs() < f64::EPSILON);
    assert!(of("rowclone", "4096") * 10.0 < of("baseline", "4096"));
    assert!(rises(&rows.along("bytes", "energy_nj", &[("source", "same-subarray"), ("policy", "baseline")])));
}

#[test]
fn a_faster_grade_helps_the_channel_and_fpm_keeps_a_lead() {
    let rows = Rows::of("speed-grade");
    let lead = ["800D", "1066G", "1333H", "1600K", "1866M", "2133N"].map(|bin| {
        let of = |policy| rows.mean("copy_latency_mean_ns", &[("bin", bin), ("policy", policy)]);
        of("rowclone") / of("baseline")
    });
    assert!(rises(&lead), "{lead:?}");
    assert!(lead[0] < 1.0 / 15.0 && lead[5] > 1.0 / 7.5 && lead[5] < 1.0 / 6.5, "{lead:?}");
}

#[test]
fn dirty_lines_cost_fpm_its_lead_unless_they_are_copied_in_the_cache() {
    let rows = Rows::of("dirty-lines");
    let speedup = |policy, dirty_source| {
        rows.along("dirty_share", "speedup", &[("policy", policy), ("dirty_source", dirty_source)])
    };
    for policy in ["controller-copy", "rowclone"] {
        let (written, copied) = (speedup(policy, "write-back"), speedup(policy, "copy-in-cache"));
        assert!(written.windows(2).all(|pair| pair[0] > pair[1]), "{written:?}");
        assert!(copied[1..].iter().zip(&written[1..]).all(|(copied, written)| copied > written), "{copied:?}");
    }
    let fpm = speedup("rowclone", "write-back");
    assert!(fpm[0] > 4.0 && fpm[3] < 1.0, "{fpm:?}");
    assert!(speedup("rowclone", "copy-in-cache")[3] > 2.5);
    assert!(speedup("controller-copy", "write-back")[0] < 1.0, "a loop leaves its copy in the cache");
}

#[test]
fn with_a_common_offset_fpm_serves_all_but_the_partial_rows() {
    let rows = Rows::of("alignment");
    let share = |dst, src| rows.mean("copies_by_fpm_share", &[("dst", dst), ("src", src), ("policy", "rowclone")]);
    assert!((share("0x400000", "same-subarray") - 1.0).abs() < f64::EPSILON);
    assert!((share("0x400800", "same-subarray") - 15.0 / 16.0).abs() < f64::EPSILON);
    assert!(share("0x400040", "0xc00000") + share("0x400000", "0xc00800") < f64::EPSILON);
    let over_the_channel = [("dst", "0x400000"), ("src", "0xc00020"), ("policy", "rowclone")];
    assert!((rows.mean("copies_by_channel_share", &over_the_channel) - 1.0).abs() < f64::EPSILON);
}

#[test]
fn a_tighter_bound_shortens_the_tail_of_reads_and_stretches_the_copies() {
    let rows = Rows::of("hold-bound");
    for policy in ["baseline", "psm-only"] {
        let reads = rows.along("bound_cycles", "read_latency_p99_ns", &[("policy", policy)]);
        let copies = rows.along("bound_cycles", "copy_latency_mean_ns", &[("policy", policy)]);
        assert!(reads[0] * 2.0 < reads[reads.len() - 1], "{reads:?}");
        assert!(copies[0] > copies[copies.len() - 1] * 1.5, "{copies:?}");
    }
}

#[test]
fn refresh_takes_a_few_percent_of_either_way_to_copy() {
    let rows = Rows::of("refresh");
    for policy in ["baseline", "rowclone"] {
        let of =
            |t_refi: &str| rows.mean("makespan_ns", &[("policy", policy), ("density_gb", "2"), ("t_refi_ps", t_refi)]);
        let cost = of("3900000") / of("7800000") - 1.0;
        assert!((0.005..0.05).contains(&cost), "{policy}: {cost}");
    }
    assert!(rises(&rows.along("density_gb", "makespan_ns", &[("t_refi_ps", "1950000"), ("policy", "rowclone")])));
}

#[test]
fn only_where_the_allocator_knows_subarrays_does_a_child_gain_much() {
    let rows = Rows::of("pages-written");
    let time = |policy, placement| {
        rows.mean("makespan_ns", &[("pages", "1024"), ("policy", policy), ("placement", placement)])
    };
    assert!(time("rowclone", "subarray-aware") * 5.0 < time("baseline", "buddy"));
    assert!(time("rowclone", "buddy") * 5.0 > time("baseline", "buddy"));
    assert!(rises(&rows.along("pages", "makespan_ns", &[("policy", "rowclone"), ("placement", "buddy")])));
}

#[test]
fn with_many_copies_in_progress_their_size_does_not_matter() {
    let rows = Rows::of("huge-pages");
    let along =
        |in_progress| rows.along("page_bytes", "makespan_ns", &[("in_progress", in_progress), ("policy", "rowclone")]);
    let (alone, many) = (along("1"), along("32"));
    assert!(alone[0] > alone[4] * 5.0, "{alone:?}");
    assert!(many.iter().all(|time| (time / many[0] - 1.0).abs() < 0.01), "{many:?}");
}

#[test]
fn pages_that_are_no_rows_need_an_allocator_that_pairs_them() {
    let rows = Rows::of("address-map");
    for map in ["row-interleaved", "bank-interleaved", "line-interleaved"] {
        let share = |placement| {
            rows.mean("copies_by_fpm_share", &[("map", map), ("policy", "rowclone"), ("placement", placement)])
        };
        assert!(share("buddy") < 0.05 && share("subarray-aware") > 0.95, "{map}");
    }
}

#[test]
fn only_an_allocator_that_looks_for_the_subarray_finds_it_until_it_is_full() {
    let rows = Rows::of_part("utilization", "utilization != 0.936");
    let full = |placement| rows.mean("copies_by_fpm_share", &[("placement", placement), ("utilization", "0.936")]);
    assert!(["sequential", "random", "buddy"].iter().all(|placement| full(placement) < 0.01));
    let shares = percentages("utilization.svg");
    assert!(shares["0.92"] > 99.99 && rises(&["0.936", "0.934", "0.932"].map(|it| shares[it])), "{shares:?}");
}

#[test]
fn small_subarrays_lose_more_to_reservation_and_are_sooner_full() {
    let rows = Rows::of_part("subarray-rows", "rows_per_subarray != 128");
    // A row of zeros a subarray, and a temporary row a bank of 32 Ki rows.
    let expected = |rows: f64| rows.recip() + 32_768.0_f64.recip();
    let reserved = rows.mean("reserved_rows_share", &[("utilization", "0.9")]);
    assert!((reserved - expected(128.0)).abs() < 1e-12, "{reserved}");
    let reserved = percentages("subarray-rows-reserved.svg");
    for (name, rows) in [("128", 128.0), ("256", 256.0), ("512", 512.0), ("1,024", 1024.0)] {
        assert!((reserved[name] - 100.0 * expected(rows)).abs() < 0.000_05, "{reserved:?}, to four digits");
    }
    let shares = percentages("subarray-rows.svg");
    let full = ["128", "256", "512", "1,024"].map(|rows| shares[&format!("utilization 0.935, {rows}")]);
    let between = [full[1], full[2]];
    assert!(between.iter().all(|share| full[0] < *share && *share < full[3]), "{full:?}");
}
