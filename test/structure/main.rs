//! Pages, notices, packages and examples: whether they say and do what the project does.

mod docs;
mod embed_rust;
mod limits;
mod notices;
mod packages;
mod readme;
mod static_hosts;
