//! Lets a new file of a current set be compiled in.

fn main() {
    println!("cargo::rerun-if-changed=../../configs/currents");
}
