//! Several processes on one installation with PostgreSQL, Redis, a Qdrant fake and fake model back ends.

mod faults;
mod installation;
mod profiles;
mod recognition;
mod reindex;
mod replicas;
