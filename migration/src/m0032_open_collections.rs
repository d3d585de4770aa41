//! An index of the collections that every account may read: each request asks for them, and each account has a personal
//! collection, which is not one of them.

use crate::change::Change;
use crate::table::index;
use sea_orm_migration::prelude::{ConditionalStatement, Expr, ExprTrait};

pub(crate) fn changes() -> Vec<Change> {
    let index = index("collections_role_of_all_idx", "collections", &["role_of_all"])
        .cond_where(Expr::col("role_of_all").is_not_null())
        .take();
    vec![Change::CreateIndex(index)]
}
