//! Current sets of DDR5.

use super::{NONE, Shipped};

/// The sets, in the order of their file names.
pub(super) const SETS: &[Shipped] = &[
    Shipped {
        name: "16 Gb x8 DDR5-4800 gem5",
        bin: "DDR5-4800B",
        density_gb: 16.0,
        width: 8,
        vdd_v: 1.1,
        idd0_ma: 122.0,
        idd2p1_ma: Some(88.0),
        idd2n_ma: 92.0,
        idd3p_ma: Some(140.0),
        idd3n_ma: 142.0,
        idd4r_ma: 530.0,
        idd4w_ma: 479.0,
        idd5b_ma: Some(277.0),
        idd5f_ma: Some(262.0),
        idd5c_ma: Some(135.0),
        idd6_ma: Some(102.0),
        source: "gem5 src/mem/DRAMInterface.py, class of 16 Gb x8 DDR5-4800",
        note: Some(
            "The sheet of the set \"16 Gb x8 DDR5-4800 rev A\", but IDD0, IDD4R and IDD4W look like those of the x16 part. It has no current of VPP, so the energy of this supply is left out.",
        ),
        ..NONE
    },
    Shipped {
        name: "16 Gb x8 DDR5-4800 rev A",
        bin: "DDR5-4800B",
        density_gb: 16.0,
        width: 8,
        vdd_v: 1.1,
        vpp_v: Some(1.8),
        idd0_ma: 103.0,
        ipp0_ma: Some(8.0),
        idd2p1_ma: Some(88.0),
        idd2n_ma: 92.0,
        idd3p_ma: Some(140.0),
        idd3n_ma: 142.0,
        ipp3n_ma: Some(7.0),
        idd4r_ma: 377.0,
        idd4w_ma: 349.0,
        idd5b_ma: Some(277.0),
        idd6_ma: Some(102.0),
        source: "gem5 class DDR5_4800 of the University of Florida, from Micron's 16 Gb rev A sheet",
        note: Some(
            "No IDD5C, IDD5F or IPP5B was seen: a REFsb takes its share of IDD5B, and a refresh only IPP3N on VPP. No second independent set was found.",
        ),
        ..NONE
    },
];
