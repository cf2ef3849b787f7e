//! Enums whose values have names.

/// Defines enums whose values have names in configurations and reports: `Value = "name"`.
///
/// Each enum gets `ALL`, its values in the order of their definition, `NAMES`, `name`, and `from_name`.
#[macro_export]
macro_rules! named {
    ($($(#[$meta:meta])* pub enum $type:ident { $($(#[$of_value:meta])* $value:ident = $name:literal,)+ })+) => {$(
        $(#[$meta])*
        pub enum $type {
            $($(#[$of_value])* $value,)+
        }

        impl $type {
            /// All values, in the order of reports.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];

            /// Their names.
            pub const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];

            /// Name in configurations and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)+
                }
            }

            /// The value with this name.
            pub fn from_name(name: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    )+};
}
