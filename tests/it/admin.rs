//! `/admin`
