//! Every contract battery is run by a fake and by a real adapter.

use super::tree::{Tree, code};

const FAKES: &str = "crates/testkit/tests/fakes.rs";
const CONTRACTS: &str = "crates/testkit/src/contract/";
const ADAPTERS: &str = "crates/adapters/";

pub(super) fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    let groups: Vec<Group<'_>> = tree.rust(CONTRACTS).filter_map(|(_, text)| group(text)).collect();
    for (path, battery) in
        tree.rust(CONTRACTS).flat_map(|(path, text)| declared(text).map(move |name| (path, name)))
    {
        let runs = |text: &str| {
            let in_group = |group: &Group<'_>| calls(group.text, battery) && calls(text, group.name);
            calls(text, battery) || groups.iter().any(in_group)
        };
        if !tree.get(FAKES).is_some_and(runs) {
            complaints.push(format!("{path}: {battery} is not run in {FAKES}"));
        }
        if !tree.rust(ADAPTERS).any(|(_, text)| runs(text)) {
            complaints.push(format!("{path}: {battery} is run by no adapter in {ADAPTERS}"));
        }
    }
    complaints
}

fn calls(text: &str, name: &str) -> bool {
    let call = format!("::{name}!(");
    code(text).any(|(_, line)| line.contains(&call))
}

/// A macro that runs several batteries.
struct Group<'a> {
    name: &'a str,
    text: &'a str,
}

/// The group that a file declares, by a line such as `macro_rules! relational_contracts {`.
fn group(text: &str) -> Option<Group<'_>> {
    code(text).find_map(|(_, line)| {
        let name = line.trim_start().strip_prefix("macro_rules! ")?.strip_suffix(" {")?;
        name.ends_with("_contracts").then_some(Group { name, text })
    })
}

/// The batteries that a file declares: lines such as `blob_store_contract in blob_store (…);`.
fn declared(text: &str) -> impl Iterator<Item = &str> {
    code(text).filter_map(|(_, line)| {
        let (name, _) = line.trim_start().split_once(" in ")?;
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (is_name && name.ends_with("_contract")).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Invariant: Every contract battery runs on a fake and on a real adapter.
    #[test]
    fn a_battery_that_a_fake_or_an_adapter_does_not_run_is_named() {
        let contract = "crate::battery! {\n    clock_contract in clock (Arc<dyn Clock>);\n";
        let run = "docent_testkit::clock_contract!(async { () });\n";
        let commented = "// docent_testkit::clock_contract!(async { () });\n";
        let path = "crates/testkit/src/contract/clock.rs";
        let tree = |fakes, adapter| {
            Tree::of(&[(path, contract), (FAKES, fakes), ("crates/adapters/services/src/system.rs", adapter)])
        };
        assert_eq!(check(&tree(run, run)), Vec::<String>::new());
        let no_fake = format!("{path}: clock_contract is not run in {FAKES}");
        let no_adapter = format!("{path}: clock_contract is run by no adapter in {ADAPTERS}");
        assert_eq!(check(&tree("", run)), [no_fake.as_str()]);
        assert_eq!(check(&tree(run, commented)), [no_adapter.as_str()]);
        assert_eq!(check(&Tree::of(&[(path, contract)])), [no_fake, no_adapter]);
    }

    #[test]
    fn a_battery_may_be_run_with_a_group() {
        let clock = "crate::battery! {\n    clock_contract in clock (Arc<dyn Clock>);\n";
        let group =
            "macro_rules! all_contracts {\n    ($m:ident) => { $crate::clock_contract!(super::$m()); };\n";
        let run = "docent_testkit::all_contracts!(fresh);\n";
        let tree = |group, run| {
            Tree::of(&[
                ("crates/testkit/src/contract/clock.rs", clock),
                ("crates/testkit/src/contract/all.rs", group),
                (FAKES, run),
                ("crates/adapters/services/src/system.rs", run),
            ])
        };
        assert_eq!(check(&tree(group, run)), Vec::<String>::new());
        assert_eq!(check(&tree(group, "")).len(), 2);
        assert_eq!(check(&tree("macro_rules! all_contracts {\n", run)).len(), 2);
    }
}
