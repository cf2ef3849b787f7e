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

/// What a picture says: its title, its values, and its texts. Where they stand may differ in the last digit between machines.
fn values(picture: &Path) -> Vec<String> {
    let text = fs::read_to_string(picture).unwrap_or_else(|error| panic!("{}: {error}", picture.display()));
    let words = text.split('<').filter(|piece| piece.starts_with("title>") || piece.starts_with("text "));
    words.map(|piece| piece.split_once('>').unwrap().1.trim().to_owned()).collect()
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
        let (file, out) = (format!("sweeps/{sweep}.toml"), directory.path("out"));
        let (code, _, stderr) = run(&["sweep", &file, "--out", out.to_str().unwrap()]);
        assert_eq!(code, 0, "{stderr}");
        let drawn = pictures(&out);
        assert!(!drawn.is_empty());
        for picture in drawn {
            let shown = workspace().join("docs/gallery").join(picture.file_name().unwrap());
            assert_eq!(values(&picture), values(&shown), "`cargo xtask gallery` draws {} anew", shown.display());
        }
        let mut table = csv::Reader::from_path(out.join("results.csv")).unwrap();
        Rows(table.deserialize().map(|row| Row(row.unwrap())).collect())
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
    assert!((of("rule", "2048") - of("psm", "2048")).abs() < f64::EPSILON);
    assert!(of("rule", "4096") * 10.0 < of("channel", "4096"));
    assert!(rises(&rows.along("bytes", "energy_nj", &[("source", "same-subarray"), ("policy", "channel")])));
}

#[test]
fn a_faster_grade_helps_the_channel_and_fpm_keeps_a_lead() {
    let rows = Rows::of("speed-grade");
    let lead = ["800D", "1066G", "1333H", "1600K", "1866M", "2133N"].map(|bin| {
        let of = |policy| rows.mean("copy_latency_mean_ns", &[("bin", bin), ("policy", policy)]);
        of("rule") / of("channel")
    });
    assert!(rises(&lead), "{lead:?}");
    assert!(lead[0] < 1.0 / 15.0 && lead[5] > 1.0 / 7.5 && lead[5] < 1.0 / 6.5, "{lead:?}");
}

#[test]
fn ragged_ends_are_all_that_a_common_offset_costs() {
    let rows = Rows::of("alignment");
    let share = |dst, src| rows.mean("copies_by_fpm_share", &[("dst", dst), ("src", src), ("policy", "rule")]);
    assert!((share("0x0040_0000", "same-subarray") - 1.0).abs() < f64::EPSILON);
    assert!((share("0x0040_0800", "same-subarray") - 15.0 / 16.0).abs() < f64::EPSILON);
    assert!(share("0x0040_0040", "0x0080_0000") + share("0x0040_0000", "0x0080_0800") < f64::EPSILON);
    let over_the_channel = [("dst", "0x0040_0000"), ("src", "0x0080_0020"), ("policy", "rule")];
    assert!((rows.mean("copies_by_channel_share", &over_the_channel) - 1.0).abs() < f64::EPSILON);
}

#[test]
fn a_tighter_bound_shortens_the_tail_of_reads_and_stretches_the_copies() {
    let rows = Rows::of("hold-bound");
    for policy in ["channel", "psm"] {
        let reads = rows.along("bound_cycles", "read_latency_p99_ns", &[("policy", policy)]);
        let copies = rows.along("bound_cycles", "copy_latency_mean_ns", &[("policy", policy)]);
        assert!(reads[0] * 2.0 < reads[reads.len() - 1], "{reads:?}");
        assert!(copies[0] > copies[copies.len() - 1] * 1.5, "{copies:?}");
    }
}

#[test]
fn refresh_takes_a_few_percent_of_either_way_to_copy() {
    let rows = Rows::of("refresh");
    for policy in ["channel", "rule"] {
        let of =
            |t_refi: &str| rows.mean("makespan_ns", &[("policy", policy), ("density_gb", "2"), ("t_refi_ps", t_refi)]);
        let cost = of("3900000") / of("7800000") - 1.0;
        assert!((0.005..0.05).contains(&cost), "{policy}: {cost}");
    }
    assert!(rises(&rows.along("density_gb", "makespan_ns", &[("t_refi_ps", "1950000"), ("policy", "rule")])));
}

#[test]
fn only_where_the_allocator_knows_subarrays_does_a_child_gain_much() {
    let rows = Rows::of("pages-written");
    let time = |policy, placement| {
        rows.mean("makespan_ns", &[("pages", "1024"), ("policy", policy), ("placement", placement)])
    };
    assert!(time("rule", "subarray-aware") * 5.0 < time("channel", "buddy"));
    assert!(time("rule", "buddy") * 5.0 > time("channel", "buddy"));
    assert!(rises(&rows.along("pages", "makespan_ns", &[("policy", "rule"), ("placement", "buddy")])));
}

#[test]
fn with_many_copies_in_progress_their_size_does_not_matter() {
    let rows = Rows::of("huge-pages");
    let along =
        |in_progress| rows.along("page_bytes", "makespan_ns", &[("in_progress", in_progress), ("policy", "rule")]);
    let (alone, many) = (along("1"), along("32"));
    assert!(alone[0] > alone[4] * 5.0, "{alone:?}");
    assert!(many.iter().all(|time| (time / many[0] - 1.0).abs() < 0.01), "{many:?}");
}

#[test]
fn pages_that_are_no_rows_need_an_allocator_that_pairs_them() {
    let rows = Rows::of("address-map");
    for map in ["row-interleaved", "bank-interleaved", "line-interleaved"] {
        let share =
            |placement| rows.mean("copies_by_fpm_share", &[("map", map), ("policy", "rule"), ("placement", placement)]);
        assert!(share("buddy") < 0.05 && share("subarray-aware") > 0.95, "{map}");
    }
}

#[test]
fn only_an_allocator_that_looks_for_the_subarray_finds_it_until_it_is_full() {
    let rows = Rows::of("utilisation");
    let share = |placement, utilisation| {
        rows.mean("copies_by_fpm_share", &[("placement", placement), ("utilisation", utilisation)])
    };
    for utilisation in ["0.1", "0.5", "0.74"] {
        assert!((share("random", utilisation) - 1.0 / 512.0).abs() < 0.001, "{}", share("random", utilisation));
        assert!(share("buddy", utilisation) < 0.01 && share("sequential", utilisation) < 0.01);
    }
    assert!(share("subarray-aware", "0.3") > 0.99);
    assert!(share("subarray-aware", "0.74") < share("subarray-aware", "0.65"));
}

#[test]
fn small_subarrays_lose_more_to_reservation_and_are_sooner_full() {
    let rows = Rows::of("subarray-rows");
    let reserved = rows.along("rows_per_subarray", "reserved_rows_share", &[("utilisation", "0.5")]);
    // A row of zeros a subarray, and a temporary row a bank of 32 Ki rows.
    let expected = [128.0, 256.0, 512.0, 1024.0].map(|rows: f64| rows.recip() + 32_768.0_f64.recip());
    assert!(reserved.iter().zip(expected).all(|(share, one)| (share - one).abs() < 1e-12), "{reserved:?}");
    assert!(rises(&rows.along("rows_per_subarray", "copies_by_fpm_share", &[("utilisation", "0.7")])));
}
