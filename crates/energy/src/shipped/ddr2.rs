//! Current sets of DDR2.

use super::{NONE, Shipped};

/// The sets, in the order of their file names.
pub(super) const SETS: &[Shipped] = &[
    Shipped {
        name: "1 Gb x16 DDR2-400 rev E",
        bin: "DDR2-400B",
        density_gb: 1.0,
        width: 16,
        vdd_v: 1.8,
        idd0_ma: 110.0,
        idd2p1_ma: Some(7.0),
        idd2n_ma: 40.0,
        idd3p0_ma: Some(10.0),
        idd3p_ma: Some(30.0),
        idd3n_ma: 55.0,
        idd4r_ma: 103.0,
        idd4w_ma: 103.0,
        idd5b_ma: Some(215.0),
        source: "Micron DDR2 module IDD tables, a quarter of four 1 Gb x16 rev E chips at 400",
        note: Some(
            "IDD4R and IDD4W are derived: IDD3N plus 48 mA, which is 3/5 of IDD4R - IDD3N of the set \"1 Gb x8 \
             DDR2-667 -3E\". IDD5B is derived, too: that of the 667 set, of the same density. No IDD6 was seen.",
        ),
        ..NONE
    },
    Shipped {
        name: "1 Gb x16 DDR2-800 H-die",
        bin: "DDR2-800E",
        density_gb: 1.0,
        width: 16,
        vdd_v: 1.8,
        idd0_ma: 80.0,
        idd2p1_ma: Some(7.0),
        idd2n_ma: 30.0,
        idd3p0_ma: Some(10.0),
        idd3p_ma: Some(20.0),
        idd3n_ma: 35.0,
        idd4r_ma: 150.0,
        idd4w_ma: 160.0,
        idd5b_ma: Some(150.0),
        idd6_ma: Some(7.0),
        source: "DRAMSys configs/memspec, Micron 1 Gb x16 H-die, DDR2-800",
        ..NONE
    },
    Shipped {
        name: "1 Gb x4 DDR2-800 -25E",
        bin: "DDR2-800E",
        density_gb: 1.0,
        width: 4,
        vdd_v: 1.8,
        idd0_ma: 90.0,
        idd2p1_ma: Some(7.0),
        idd2n_ma: 50.0,
        idd3p0_ma: Some(12.0),
        idd3p_ma: Some(35.0),
        idd3n_ma: 60.0,
        idd4r_ma: 145.0,
        idd4w_ma: 145.0,
        idd5b_ma: Some(235.0),
        idd6_ma: Some(7.0),
        source: "DRAMSim2 ini/DDR2_micron_32M_8B_x4_sg25E.ini",
        ..NONE
    },
    Shipped {
        name: "1 Gb x8 DDR2-667 -3E",
        bin: "DDR2-667D",
        density_gb: 1.0,
        width: 8,
        vdd_v: 1.8,
        idd0_ma: 85.0,
        idd2p1_ma: Some(7.0),
        idd2n_ma: 40.0,
        idd3p0_ma: Some(10.0),
        idd3p_ma: Some(30.0),
        idd3n_ma: 55.0,
        idd4r_ma: 135.0,
        idd4w_ma: 135.0,
        idd5b_ma: Some(215.0),
        idd6_ma: Some(7.0),
        source: "DRAMSim2 ini/DDR2_micron_16M_8b_x8_sg3E.ini",
        ..NONE
    },
    Shipped {
        name: "256 Mb x8 DDR2-400",
        bin: "DDR2-400B",
        density_gb: 0.25,
        width: 8,
        vdd_v: 1.8,
        idd0_ma: 75.0,
        idd2p1_ma: Some(5.0),
        idd2n_ma: 30.0,
        idd3p0_ma: Some(6.0),
        idd3p_ma: Some(20.0),
        idd3n_ma: 30.0,
        idd4r_ma: 78.0,
        idd4w_ma: 78.0,
        source: "Micron DDR2 module IDD tables, a ninth of nine 256 Mb x8 chips at 400",
        note: Some(
            "IDD4R and IDD4W are derived: IDD3N plus 48 mA, which is 3/5 of IDD4R - IDD3N of the set \"1 Gb x8 \
             DDR2-667 -3E\". No IDD5B or IDD6 was seen, so a system with refresh needs another set.",
        ),
        ..NONE
    },
    Shipped {
        name: "2 Gb x8 DDR2-400",
        bin: "DDR2-400B",
        density_gb: 2.0,
        width: 8,
        vdd_v: 1.8,
        idd0_ma: 90.0,
        idd2p1_ma: Some(10.0),
        idd2n_ma: 45.0,
        idd3p0_ma: Some(14.0),
        idd3p_ma: Some(30.0),
        idd3n_ma: 40.0,
        idd4r_ma: 88.0,
        idd4w_ma: 88.0,
        idd5b_ma: Some(215.0),
        source: "Micron DDR2 module IDD tables: IDD0 is that of two ranks of nine 2 Gb x8 chips at 400, less the \
         other rank in power-down",
        note: Some(
            "IDD4R and IDD4W are derived: IDD3N plus 48 mA, which is 3/5 of IDD4R - IDD3N of the set \"1 Gb x8 \
             DDR2-667 -3E\". IDD5B is derived, too: that of the 667 set, whose chip has half the density. No IDD6 \
             was seen.",
        ),
        ..NONE
    },
];
