/// Makes `Functions` of declarations: a field for each function, and how the fields are filled.
macro_rules! functions {
    ($($(#[$said:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// The functions of libkaio, by their names in C.
        #[derive(Clone, Copy)]
        pub struct Functions {
            $($(#[$said])* pub $name: unsafe extern "C" fn($($argument: $type),*) -> $result,)*
        }

        impl Functions {
            /// Fills the table with what `symbol` finds by names that end in a zero.
            ///
            /// # Safety
            /// `symbol` returns the addresses of libkaio's functions.
            #[cfg(all(feature = "load", not(feature = "link")))]
            pub(crate) unsafe fn find<F>(mut symbol: F) -> Result<Functions, crate::LoadError>
            where
                F: FnMut(&'static str) -> Result<*mut c_void, crate::LoadError>,
            {
                Ok(Functions {
                    // SAFETY: an address of a function of this type, as the caller promises.
                    $($name: unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> $result>(
                            symbol(concat!(stringify!($name), "\0"))?,
                        )
                    },)*
                })
            }

            /// The linked functions.
            #[cfg(feature = "link")]
            pub(crate) fn linked() -> Functions {
                Functions { $($name: linked::$name,)* }
            }

            /// The names of all functions.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];
        }

        impl std::fmt::Debug for Functions {
            fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.write_str("Functions")
            }
        }

        /// The functions themselves, with the feature `link`.
        #[cfg(feature = "link")]
        pub mod linked {
            use super::*;
            extern "C" {
                $($(#[$said])* pub fn $name($($argument: $type),*) -> $result;)*
            }
        }
    };
}
