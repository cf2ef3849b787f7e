//! `reproduce ioat`: what holds of copies by a DMA engine, of received packets, and of servers.

use serde_json::Value;

use crate::common::{json, run};

fn of(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("no {key} in {value}"))
}

fn reproduced(arguments: &[&str]) -> Value {
    json(&[&["reproduce", "ioat"], arguments].concat())
}

fn rows<'a>(table: &'a Value, group: &str) -> Vec<&'a Value> {
    table["measurements"].as_array().unwrap().iter().filter(|row| row["group"] == group).collect()
}

fn points(row: &Value) -> f64 {
    of(&row["without"], "cpu_utilization") - of(&row["with"], "cpu_utilization")
}

fn benefit(row: &Value) -> f64 {
    points(row) / of(&row["without"], "cpu_utilization")
}

/// DMA passes the cold copy between 4 and 16 KiB, and the warm one at no size that the L2 of 2 MiB holds; start-up and
/// overlappable share; a page is pinned on either side.
#[test]
fn copies_keep_the_published_order() {
    let table = reproduced(&["--only", "copies"]);
    let copies = table["copies"].as_array().unwrap();
    assert!(table["measurements"].as_array().unwrap().is_empty());
    let mut share = -1.0;
    for copy in copies {
        let [bytes, cold, warm, dma] = ["bytes", "cold_cycles", "warm_cycles", "dma_cycles"].map(|key| of(copy, key));
        let (start_up, cpu) = (of(copy, "start_up_cycles"), of(copy, "cpu_cycles"));
        assert!(if bytes < 4096.0 { dma >= cold } else { bytes < 16384.0 || dma < cold }, "{copy}");
        assert!(dma > warm && start_up <= dma, "{copy}");
        assert!(bytes < 4096.0 || start_up < cold, "{copy}");
        assert!(bytes < 65536.0 || start_up < warm, "{copy}");
        let overlappable = 1.0 - cpu / dma;
        assert!(overlappable > share, "{copy}");
        share = overlappable;
        assert!(bytes < 65536.0 || share > 0.85, "{copy}");
        // 200 cycles per page, of which the core saves some that it would otherwise wait.
        let pages = 2.0 * (bytes / 4096.0).ceil();
        let pinning = of(copy, "pinning_cycles");
        assert!((pages * 150.0..=pages * 215.0).contains(&pinning), "{copy}");
    }
    assert_eq!((copies.len(), copies[8]["bytes"].as_u64()), (11, Some(65_536)));
}

/// The difference in points grows with the ports, and with many connections the benefit is at least that with a
/// connection per port.
#[test]
#[ignore = "a quarter of a minute of CPU: `cargo xtask full` runs it"]
fn the_benefit_grows_with_ports_and_connections() {
    let table = reproduced(&["--only", "receive"]);
    let receive = rows(&table, "receive");
    assert_eq!((receive.len(), &receive[6]["case"]), (7, &Value::from("120 connections")));
    assert!(benefit(receive[6]) >= benefit(receive[5]), "{} {}", receive[6], receive[5]);
    for row in &receive {
        assert!(of(&row["with"], "link_load") > 0.9 && row["with"]["dropped"] == 0, "{row}");
    }
    for group in ["receive", "receive and send"] {
        let growing: Vec<f64> = rows(&table, group)[..6].iter().map(|row| points(row)).collect();
        assert!(growing.is_sorted_by(|a, b| a < b), "{group}: {growing:?}");
    }
}

/// Few packets: six ports gain more than three, and three more than one.
#[test]
#[ignore = "seconds of CPU: `cargo xtask full` runs it"]
fn the_benefit_grows_with_many_more_ports() {
    let table = reproduced(&["--only", "receive", "--packets", "200"]);
    for group in ["receive", "receive and send"] {
        let rows = rows(&table, group);
        assert!(rows.iter().all(|row| of(&row["with"], "link_load") > 0.9 && row["with"]["dropped"] == 0));
        let growing = [0, 2, 5].map(|ports| points(rows[ports]));
        assert!(growing.is_sorted_by(|a, b| a < b) && growing[0] > 0.0, "{group}: {growing:?}");
    }
}

/// From the default to frames of 2,048 bytes. Segmentation offload changes nothing where nothing is sent.
#[test]
#[ignore = "a quarter of a minute of CPU: `cargo xtask full` runs it"]
fn the_benefit_rises_with_the_socket_options() {
    let table = reproduced(&["--only", "options", "--packets", "400"]);
    for group in ["options, receive", "options, both"] {
        let benefits: Vec<f64> = rows(&table, group).iter().map(|row| benefit(row)).collect();
        assert_eq!(benefits.len(), 5);
        assert!(benefits[..4].is_sorted() && benefits[0] < benefits[3], "{group}: {benefits:?}");
    }
}

/// More threads of clients get more answers, until the link is full; larger files get fewer. No thread is faster than
/// its client.
#[test]
#[ignore = "a quarter of a minute of CPU: `cargo xtask full` runs it"]
fn servers_are_limited_by_clients_core_or_link() {
    let table = reproduced(&["--only", "servers", "--packets", "100"]);
    let transactions = |row: &&Value| of(&row["without"], "transactions_s");
    let proxy = rows(&table, "proxy");
    let found: Vec<f64> = proxy.iter().map(transactions).collect();
    assert!(found.len() == 5 && found[..4].is_sorted_by(|a, b| a < b), "{found:?}");
    assert!(of(&proxy[0]["without"], "link_load") < 0.5 && of(&proxy[4]["without"], "link_load") > 0.9);
    let web: Vec<f64> = rows(&table, "web server").iter().map(transactions).collect();
    assert!(web.len() == 5 && web.is_sorted_by(|a, b| a > b), "{web:?}");
    for row in table["measurements"].as_array().unwrap() {
        for run in ["without", "with"] {
            for load in ["busiest_core", "channel_load", "link_load"] {
                assert!((0.0..=1.0).contains(&of(&row[run], load)), "{row}");
            }
            let (threads, client_us) = (of(&row["clients"], "threads"), of(&row["clients"], "client_us"));
            assert!(threads * 1e6 / of(&row[run], "transactions_s") > client_us, "{row}");
        }
    }
}

#[test]
fn loads_and_commands_are_right_without_and_with_the_engine() {
    let (code, text, error) = run(&["reproduce", "ioat", "--only", "copies", "--check"]);
    assert_eq!(code, 0, "{error}");
    assert!(text.contains("pinning costs more than the cold copy up to") && !text.contains("Servers"), "{text}");
}

#[test]
fn more_queues_than_cores_can_be_are_refused() {
    let (code, _, error) = run(&["reproduce", "ioat", "--set", "network.queues=17"]);
    assert_eq!(code, 2);
    assert!(error.contains("`network.queues` is 17, but must be from 1 to 16"), "{error}");
}

/// `none` where a page is not faster: with pinning, the engine takes longer than the loop for a page, and a copy is
/// executed page by page.
#[test]
fn the_first_screen_has_the_break_even_size_of_dma() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("copy.program");
    let maps = ["0x100000", "0x200000"].map(|start| format!("map {start} 65536\npresent {start} 65536\n")).concat();
    std::fs::write(&path, format!("{maps}compute 1\ncopy 0x200000 0x100000 65536\ncompute 10\n")).unwrap();
    let screen = |sets: &[&str]| {
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let program = ["programs", path.to_str().unwrap(), "--machine", "ioat-2006", "--policies", "dma"];
        let (code, text, error) = run(&[&program[..], &sets].concat());
        assert_eq!(code, 0, "{error}");
        let line = text.lines().find(|line| line.starts_with("break-even size")).expect("a line").to_owned();
        line.split_once("dma ").expect("its size").1.to_owned()
    };
    assert_eq!(screen(&[]), "none");
    assert_eq!(screen(&["dma.pin_cycles=0", "dma.unpin_cycles=0"]), "3,904 B");
}
