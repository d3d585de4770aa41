//! Several processes on one installation: PostgreSQL, Redis, and what speaks the protocols of Qdrant and
//! of the model back ends.

mod faults;
mod installation;
mod profiles;
mod reindex;
mod replicas;
