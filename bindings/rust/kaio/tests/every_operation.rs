#[rustfmt::skip]
#[path = "generated/every_operation.rs"]
mod generated;
