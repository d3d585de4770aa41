//! `cargo xtask sbom`: the software bill of materials of the program, as CycloneDX JSON.

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The package of the program.
const PROGRAM: &str = "docent";
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Prints the components that `docent` is built from on this platform, without those of tests.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    println!("{:#}", sbom(&metadata(root)?, &checksums(&fs::read_to_string(root.join("Cargo.lock"))?))?);
    Ok(())
}

fn metadata(root: &Path) -> anyhow::Result<Value> {
    let output = Command::new(env!("CARGO")).args(["-vV"]).output()?;
    let version = String::from_utf8(output.stdout)?;
    let host =
        version.lines().find_map(|line| line.strip_prefix("host: ")).context("`cargo -vV` names no host")?;
    let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", host];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root).output()?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The SHA-256 digests in a `Cargo.lock`, by name and version.
fn checksums(lock: &str) -> HashMap<(String, String), String> {
    let field = |package: &str, name: &str| {
        let value = package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        value.map(|value| value.trim_matches('"').to_owned())
    };
    let entry =
        |package| Some(((field(package, "name")?, field(package, "version")?), field(package, "checksum")?));
    lock.split("[[package]]").filter_map(entry).collect()
}

fn sbom(metadata: &Value, checksums: &HashMap<(String, String), String>) -> anyhow::Result<Value> {
    let packages: HashMap<&str, &Value> =
        list(metadata, "packages").map(|package| (text(package, "id"), package)).collect();
    let nodes: HashMap<&str, Vec<&str>> =
        list(&metadata["resolve"], "nodes").map(|node| (text(node, "id"), dependencies(node))).collect();
    let program = packages.values().find(|package| text(package, "name") == PROGRAM);
    let program = text(program.context("the workspace has no package `docent`")?, "id");
    let mut reached = BTreeSet::from([program]);
    let mut open = vec![program];
    while let Some(id) = open.pop() {
        open.extend(nodes[id].iter().copied().filter(|id| reached.insert(id)));
    }
    let component = |id: &&str| component(packages[id], checksums);
    let dependencies: BTreeMap<String, Vec<String>> = reached
        .iter()
        .map(|id| (reference(packages[id]), nodes[id].iter().map(|id| reference(packages[id])).collect()))
        .collect();
    let dependencies = dependencies.iter().map(|(of, on)| json!({ "ref": of, "dependsOn": on }));
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": component(&program) },
        "components": reached.iter().filter(|id| **id != program).map(component).collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    }))
}

/// The packages that a node of the resolved graph is built from, without those that only tests need.
fn dependencies(node: &Value) -> Vec<&str> {
    let is_built = |dependency: &&Value| list(dependency, "dep_kinds").any(|kind| kind["kind"] != "dev");
    list(node, "deps").filter(is_built).map(|dependency| text(dependency, "pkg")).collect()
}

fn component(package: &Value, checksums: &HashMap<(String, String), String>) -> Value {
    let (name, version) = (text(package, "name"), text(package, "version"));
    let kind = if name == PROGRAM { "application" } else { "library" };
    let reference = reference(package);
    let mut component = json!({ "type": kind, "bom-ref": reference, "name": name, "version": version });
    if package["source"] == REGISTRY {
        component["purl"] = json!(reference);
    }
    // Older manifests separate licences by a slash.
    if let Some(license) = package["license"].as_str() {
        component["licenses"] = json!([{ "expression": license.replace('/', " OR ").replace("  ", " ") }]);
    }
    if let Some(checksum) = checksums.get(&(name.to_owned(), version.to_owned())) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}

/// The package URL, which also names the component within the document.
fn reference(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(package, "name"), text(package, "version"))
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sbom_lists_what_the_program_is_built_from() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let checksums = checksums(&fs::read_to_string(root.join("Cargo.lock")).unwrap());
        let sbom = sbom(&metadata(root).unwrap(), &checksums).unwrap();
        assert_eq!((&sbom["bomFormat"], &sbom["specVersion"]), (&json!("CycloneDX"), &json!("1.5")));
        assert_eq!(sbom["metadata"]["component"]["name"], PROGRAM);
        let components: HashMap<&str, &Value> =
            list(&sbom, "components").map(|component| (text(component, "name"), component)).collect();
        let tokio = components["tokio"];
        assert!(text(tokio, "purl").starts_with("pkg:cargo/tokio@1."), "{tokio}");
        assert_eq!(tokio["licenses"][0]["expression"], "MIT");
        assert_eq!(tokio["hashes"][0]["content"].as_str().unwrap().len(), 64);
        assert!(components.contains_key("docent-services"), "packages of the workspace are components too");
        for absent in ["docent-testkit", "fantoccini", "xtask"] {
            assert!(!components.contains_key(absent), "{absent} is not part of the program");
        }
        let references: BTreeSet<&str> = list(&sbom, "components")
            .chain([&sbom["metadata"]["component"]])
            .map(|each| text(each, "bom-ref"))
            .collect();
        for dependency in list(&sbom, "dependencies") {
            let on = list(dependency, "dependsOn").filter_map(Value::as_str);
            assert!(
                on.chain([text(dependency, "ref")]).all(|each| references.contains(each)),
                "{dependency}"
            );
        }
    }
}
