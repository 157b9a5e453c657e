//! Strategies as rows of a table.

/// Declares an enum of strategies and `row`, which returns the row of a strategy.
macro_rules! strategies {
    (
        $(#[doc = $doc:literal])*
        $name:ident: $row:ident $(<$R:ident: $bound:ident>)? {
            $($(#[doc = $of:literal])* $(#[cfg($cfg:meta)])? $variant:ident => $value:expr,)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $of])* $(#[cfg($cfg)])? $variant,)*
        }

        impl $name {
            /// All strategies.
            pub const ALL: [Self; [$($(#[cfg($cfg)])? stringify!($variant)),*].len()] =
                [$($(#[cfg($cfg)])? Self::$variant),*];

            fn row$(<$R: $bound>)?(self) -> $row $(<$R>)? {
                match self {
                    $($(#[cfg($cfg)])? Self::$variant => $value,)*
                }
            }
        }
    };
}
