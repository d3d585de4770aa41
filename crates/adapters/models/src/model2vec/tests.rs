use super::*;
use docent_testkit::model2vec::{Tensor, TinyModel, UNKNOWN, safetensors};
use serde_json::json;
use std::fs;
use tempfile::TempDir;

/// "pump" and "impeller" are synonyms, as are "valve" and "tap".
const WORDS: [(&str, &[f32]); 12] = [
    ("pumps", &[1.0, 0.0, 0.0, 0.1]),
    ("centrifugal", &[0.9, 0.1, 0.0, 0.0]),
    ("impeller", &[2.0, 0.0, 0.0, 0.2]),
    ("water", &[0.5, 0.3, 0.0, 0.1]),
    ("valves", &[0.0, 1.0, 0.0, 0.1]),
    ("tap", &[0.0, 3.0, 0.0, 0.3]),
    ("pressure", &[0.1, 0.8, 0.0, 0.0]),
    ("cranes", &[0.0, 0.0, 1.0, 0.1]),
    ("heavy", &[0.0, 0.1, 0.7, 0.0]),
    ("machines", &[0.1, 0.1, 0.1, 0.9]),
    ("north", &[1.0, -1.0, 0.0, 0.0]),
    ("south", &[-1.0, 1.0, 0.0, 0.0]),
];

fn tiny() -> TinyModel {
    TinyModel::new(&WORDS)
}

fn load(model: &TinyModel) -> Result<Model2VecEmbedder, InvalidModel> {
    let folder = TempDir::new().unwrap();
    model.write(folder.path());
    Model2VecEmbedder::load(folder.path())
}

/// The error of a model without the folder.
fn problem(model: &TinyModel) -> String {
    let error = load(model).err().expect("the model is invalid").to_string();
    let (folder, problem) = error.split_once(" cannot be used: ").unwrap();
    assert!(folder.starts_with("the embedding model in /"), "{error}");
    problem.to_owned()
}

async fn embed(embedder: &Model2VecEmbedder, query: &str) -> Vec<f32> {
    embedder.embed_query(query).await.unwrap().dense.unwrap()
}

async fn cosine(embedder: &Model2VecEmbedder, a: &str, b: &str) -> f32 {
    let (a, b) = (embed(embedder, a).await, embed(embedder, b).await);
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

fn half_bytes(bits: &[u16]) -> Vec<u8> {
    bits.iter().flat_map(|bits| bits.to_le_bytes()).collect()
}

docent_testkit::embedder_contract!(async { (Arc::new(load(&tiny()).unwrap()) as _, ()) });

#[tokio::test]
async fn vector_is_mean_of_token_vectors() {
    let embedder = load(&tiny()).unwrap();
    assert_eq!(embedder.dimensions(), 4);
    assert!(cosine(&embedder, "Impeller", "PUMPS").await > 0.999, "they are synonyms");
    assert!(cosine(&embedder, "impeller", "tap").await < 0.1);
    let both = embed(&embedder, "pumps valves").await;
    let (sum, length) = ([1.0, 1.0, 0.0, 0.2_f32], (2.04_f32).sqrt());
    for (number, sum) in both.iter().zip(sum) {
        assert!((number - sum / length).abs() < 1e-6, "{both:?}");
    }
}

#[tokio::test]
async fn unknown_words_are_left_out() {
    let embedder = load(&tiny()).unwrap();
    let known = embed(&embedder, "pumps").await;
    assert_eq!(embed(&embedder, "zeppelin pumps gondola").await, known);
    for text in ["", "zeppelin", "…!?", "north south"] {
        assert_eq!(embed(&embedder, text).await, [0.0; 4], "{text}");
    }
}

#[tokio::test]
async fn chunk_is_embedded_with_title_of_document() {
    let embedder = load(&tiny()).unwrap();
    let of = async |title: &str, chunk: &str| {
        let passages = Passages { title, lead: "", chunks: &[(1, chunk)], headings: &[] };
        embedder.embed_passages(passages).await.unwrap().remove(0).dense.unwrap()
    };
    let both = embed(&embedder, "valves pumps").await;
    assert_eq!(of("Valves.PDF", "pumps").await, both);
    assert_eq!(of("Valves", "pumps").await, both);
    assert_eq!(of("", "pumps").await, embed(&embedder, "pumps").await);
}

#[tokio::test]
async fn more_chunks_than_a_batch_are_embedded_in_order() {
    let embedder = load(&tiny()).unwrap();
    let texts: Vec<&str> = (0..2 * BATCH_TEXTS + 1).map(|n| WORDS[n % 10].0).collect();
    let chunks: Vec<(u32, &str)> = texts.iter().map(|text| (1, *text)).collect();
    let passages = Passages { title: "", lead: "", chunks: &chunks, headings: &[] };
    let embeddings = embedder.embed_passages(passages).await.unwrap();
    assert_eq!(embeddings.len(), texts.len());
    for (text, embedding) in texts.iter().zip(embeddings) {
        assert_eq!(embedding.dense.unwrap(), embed(&embedder, text).await, "{text}");
    }
}

#[tokio::test]
async fn text_is_cut_at_the_maximum_of_tokens_and_characters() {
    let mut model = tiny();
    model.config = json!({ "max_length": 2 });
    let embedder = load(&model).unwrap();
    let two = embed(&embedder, "tap heavy").await;
    assert_eq!(embed(&embedder, "tap heavy pumps pumps").await, two);
    // Unknown tokens count too, as in the reference implementation.
    assert_eq!(embed(&embedder, "tap x pumps").await, embed(&embedder, "tap").await);
    // The median length of a token is 6 characters, so that 12 are read.
    assert_eq!(embed(&embedder, "tap                pumps").await, embed(&embedder, "tap").await);
    model.config = json!({ "max_length": null });
    let embedder = load(&model).unwrap();
    let long = format!("{} pumps", "tap ".repeat(600));
    assert_ne!(embed(&embedder, &long).await, embed(&embedder, "tap").await);
    model.config = json!({});
    assert_eq!(embed(&load(&model).unwrap(), &long).await, embed(&embedder, "tap").await, "512 by default");
}

#[tokio::test]
async fn truncation_and_padding_of_the_tokenizer_are_ignored() {
    let mut model = tiny();
    model.tokenizer["truncation"] =
        json!({ "direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0 });
    model.tokenizer["padding"] = json!({
        "strategy": { "Fixed": 16 }, "direction": "Right", "pad_to_multiple_of": null,
        "pad_id": 1, "pad_type_id": 0, "pad_token": "pumps",
    });
    let (changed, plain) = (load(&model).unwrap(), load(&tiny()).unwrap());
    assert_eq!(embed(&changed, "tap heavy").await, embed(&plain, "tap heavy").await);
}

#[tokio::test]
async fn half_precision_gives_the_same_vectors() {
    let mut model = TinyModel::new(&[("a", &[3.0, -4.0]), ("b", &[0.5, 0.0])]);
    let single = load(&model).unwrap();
    let bytes = half_bytes(&[0x3c00, 0x3c00, 0x4200, 0xc400, 0x3800, 0x0000]);
    model.tensors[0] = Tensor { dtype: "F16", bytes, ..model.tensors[0].clone() };
    let half = load(&model).unwrap();
    for text in ["a", "b", "a b", "b b a"] {
        assert_eq!(embed(&half, text).await, embed(&single, text).await, "{text}");
    }
}

#[tokio::test]
async fn mapping_and_weights_of_quantized_vocabularies_are_applied() {
    let mut model = TinyModel::new(&[("a", &[0.0]), ("b", &[0.0]), ("c", &[0.0])]);
    let rows = [vec![1.0, 0.0], vec![0.0, 1.0]];
    let number = |bytes: &[[u8; 8]]| bytes.concat();
    model.tensors = vec![
        Tensor::matrix("embeddings", &rows),
        Tensor {
            name: "mapping",
            dtype: "I64",
            shape: vec![4],
            bytes: number(&[0_i64, 0, 1, 1].map(i64::to_le_bytes)),
        },
        Tensor {
            name: "weights",
            dtype: "F64",
            shape: vec![4],
            bytes: number(&[9.0_f64, 3.0, 4.0, 1.0].map(f64::to_le_bytes)),
        },
    ];
    let embedder = load(&model).unwrap();
    assert_eq!(embed(&embedder, "a b").await, [0.6, 0.8]);
    assert_eq!(embed(&embedder, "c").await, embed(&embedder, "b").await);

    let mut broken = model.clone();
    broken.tensors[1].bytes = number(&[0_i64, 0, 1, 2].map(i64::to_le_bytes));
    assert_eq!(
        problem(&broken),
        "model.safetensors has the row 2 in the tensor \"mapping\", but only 2 rows"
    );
    for name in [1, 2] {
        let mut broken = model.clone();
        broken.tensors[name].shape = vec![3];
        broken.tensors[name].bytes.truncate(24);
        assert!(problem(&broken).contains("for 3 tokens, but the last token of tokenizer.json has the ID 3"));
        broken.tensors[name] = Tensor { dtype: "U8", bytes: vec![0; 3], ..broken.tensors[name].clone() };
        assert!(problem(&broken).contains("with numbers of the type U8 (expected "));
        broken.tensors[name].shape = vec![1, 3];
        assert!(problem(&broken).contains("with the shape [1, 3] (expected [tokens])"));
    }
    let mut broken = model.clone();
    broken.tensors[2].bytes = number(&[f64::NAN, 1.0, 1.0, 1.0].map(f64::to_le_bytes));
    assert_eq!(
        problem(&broken),
        "model.safetensors has the tensor \"weights\" with numbers that are not finite"
    );
}

#[tokio::test]
async fn subwords_of_bert_tokenizers_are_known() {
    let mut model = TinyModel::new(&[("pump", &[1.0, 0.0]), ("##s", &[0.0, 1.0]), ("[CLS]", &[7.0, 7.0])]);
    model.tokenizer["model"]["type"] = json!("WordPiece");
    model.tokenizer["model"]["continuing_subword_prefix"] = json!("##");
    model.tokenizer["model"]["max_input_chars_per_word"] = json!(100);
    model.tokenizer["normalizer"] = json!({
        "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
        "strip_accents": null, "lowercase": true,
    });
    model.tokenizer["pre_tokenizer"] = json!({ "type": "BertPreTokenizer" });
    model.tokenizer["post_processor"] = json!({
        "type": "TemplateProcessing",
        "single": [{ "SpecialToken": { "id": "[CLS]", "type_id": 0 } }, { "Sequence": { "id": "A", "type_id": 0 } }],
        "pair": [{ "Sequence": { "id": "A", "type_id": 0 } }, { "Sequence": { "id": "B", "type_id": 1 } }],
        "special_tokens": { "[CLS]": { "id": "[CLS]", "ids": [3], "tokens": ["[CLS]"] } },
    });
    let embedder = load(&model).unwrap();
    assert_eq!(embed(&embedder, "Pump").await, [1.0, 0.0], "no special tokens are added");
    let both = embed(&embedder, "púmps").await;
    assert!((both[0] - both[1]).abs() < 1e-6 && both[0] > 0.7, "{both:?}");
}

#[test]
fn name_changes_with_the_content_of_the_folder_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("tiny");
    let name = |model: &TinyModel| {
        model.write(&path);
        Model2VecEmbedder::load(&path).unwrap().name
    };
    let first = name(&tiny());
    let digest = first.strip_prefix("local:tiny@").unwrap();
    assert!(digest.len() == 12 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{first}");
    assert_eq!(name(&tiny()), first);
    let mut changed = tiny();
    changed.tensors[0].bytes[0] ^= 1;
    assert_ne!(name(&changed), first, "vectors");
    let mut changed = tiny();
    changed.config = json!({ "max_length": 100 });
    assert_ne!(name(&changed), first, "maximum length");
    let mut changed = tiny();
    changed.tokenizer["normalizer"] = json!(null);
    assert_ne!(name(&changed), first, "tokenizer");
    // Other files, such as a model card, are not part of the model.
    assert_eq!(name(&tiny()), first);
    fs::write(path.join("README.md"), "# Tiny").unwrap();
    assert_eq!(Model2VecEmbedder::load(&path).unwrap().name, first);
}

#[test]
fn missing_folder_and_files_are_named() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("tiny");
    let error = || Model2VecEmbedder::load(&path).err().expect("it cannot be used").to_string();
    let prefix = format!("the embedding model in {} cannot be used: ", path.display());
    assert_eq!(error(), format!("{prefix}the folder does not exist"));
    fs::write(&path, "a file").unwrap();
    assert_eq!(error(), format!("{prefix}it is not a folder"));
    fs::remove_file(&path).unwrap();
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        tiny().write(&path);
        fs::remove_file(path.join(file)).unwrap();
        assert_eq!(
            error(),
            format!(
                "{prefix}{file} does not exist; a Model2Vec model has the files config.json, tokenizer.json and \
                 model.safetensors"
            )
        );
        fs::create_dir(path.join(file)).unwrap();
        assert_eq!(error(), format!("{prefix}{file} is not a regular file"));
        fs::remove_dir(path.join(file)).unwrap();
    }
}

#[test]
fn files_of_other_formats_are_refused() {
    let folder = TempDir::new().unwrap();
    for (file, content, wrong) in [
        ("config.json", "max_length = 1", "is not a valid configuration: "),
        ("config.json", r#"{"max_length":"long"}"#, "is not a valid configuration: "),
        ("config.json", r#"{"max_length":0}"#, "has the max_length 0"),
        ("tokenizer.json", "", "is not a tokenizer: "),
        ("tokenizer.json", r#"{"model":{}}"#, "is not a tokenizer: "),
        ("model.safetensors", "", "is not a file of tensors in the safetensors format: "),
        ("model.safetensors", "version https://git-lfs.github.com/spec/v1", "is not a file of tensors"),
    ] {
        tiny().write(folder.path());
        fs::write(folder.path().join(file), content).unwrap();
        let error = Model2VecEmbedder::load(folder.path()).err().expect(content).to_string();
        assert!(error.contains(&format!("cannot be used: {file} {wrong}")), "{error}");
    }
    // A file that was not copied to its end.
    tiny().write(folder.path());
    let whole = safetensors(&tiny().tensors);
    fs::write(folder.path().join("model.safetensors"), &whole[..whole.len() - 1]).unwrap();
    assert!(Model2VecEmbedder::load(folder.path()).is_err());
}

#[test]
fn tensors_of_other_types_and_shapes_are_refused() {
    let change = |change: &dyn Fn(&mut Tensor)| {
        let mut model = tiny();
        change(&mut model.tensors[0]);
        problem(&model)
    };
    let of_type = |dtype: &'static str, size: usize| {
        change(&|tensor| {
            let bytes = vec![0; tensor.shape.iter().product::<usize>() * size];
            *tensor = Tensor { dtype, bytes, ..tensor.clone() };
        })
    };
    for (dtype, size) in [("BF16", 2), ("F64", 8), ("I8", 1), ("I32", 4)] {
        assert_eq!(
            of_type(dtype, size),
            format!(
                "model.safetensors has the tensor \"embeddings\" with numbers of the type {dtype} (expected F32 or F16)"
            )
        );
    }
    assert_eq!(
        change(&|tensor| tensor.name = "bert.embeddings.word_embeddings.weight"),
        "model.safetensors has no tensor \"embeddings\": it is not a Model2Vec model"
    );
    let shape = |shape: &[usize]| change(&|tensor| tensor.shape = shape.to_vec());
    for wrong in [&[52][..], &[13, 2, 2], &[1, 1, 52]] {
        assert_eq!(
            shape(wrong),
            format!(
                "model.safetensors has the tensor \"embeddings\" with the shape {wrong:?} (expected [tokens, dimensions])"
            )
        );
    }
    let empty =
        change(&|tensor| *tensor = Tensor { shape: vec![13, 0], bytes: Vec::new(), ..tensor.clone() });
    assert!(empty.contains("with the shape [13, 0] (expected [tokens, 1 to 8192 dimensions])"), "{empty}");
    for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let wrong = change(&|tensor| tensor.bytes[8..12].copy_from_slice(&number.to_le_bytes()));
        assert_eq!(wrong, "model.safetensors has the tensor \"embeddings\" with numbers that are not finite");
    }
    let half = change(&|tensor| {
        let mut bits = vec![0x3c00; 52];
        bits[51] = 0x7e00;
        *tensor = Tensor { dtype: "F16", bytes: half_bytes(&bits), ..tensor.clone() };
    });
    assert!(half.ends_with("not finite"), "{half}");
}

#[test]
fn tokenizer_of_another_model_is_refused() {
    let mut model = tiny();
    model.tokenizer["model"]["vocab"]["zeppelin"] = json!(13);
    assert_eq!(
        problem(&model),
        "tokenizer.json has 14 tokens, the last with the ID 13, but model.safetensors has 13 vectors: the files belong \
         to different models"
    );
    let mut model = tiny();
    model.tokenizer["model"]["vocab"]["south"] = json!(13);
    assert!(problem(&model).contains("the last with the ID 13, but model.safetensors has 13 vectors"));
    let mut model = tiny();
    model.tokenizer["model"]["vocab"].as_object_mut().unwrap().remove("south");
    assert!(problem(&model).contains("has 12 tokens"));
    let mut model = tiny();
    model.tokenizer["model"]["unk_token"] = json!("<unk>");
    assert_eq!(problem(&model), "tokenizer.json has no token \"<unk>\", which it names for unknown words");
    let mut model = tiny();
    model.tokenizer["model"]["vocab"] = json!({ UNKNOWN: 0 });
    assert!(problem(&model).contains("has 1 tokens"));
}

#[tokio::test]
async fn extreme_numbers_give_unit_vectors() {
    let large: &[f32] = &[f32::MAX, f32::MAX];
    let embedder = load(&TinyModel::new(&[("a", large), ("b", &[1e-40, 0.0]), ("c", &[0.0, 0.0])])).unwrap();
    let vector = embed(&embedder, &"a ".repeat(500)).await;
    assert!((vector[0] - 0.5_f32.sqrt()).abs() < 1e-6 && vector[0] == vector[1], "{vector:?}");
    assert_eq!(embed(&embedder, "b").await, [1.0, 0.0]);
    assert_eq!(embed(&embedder, "c").await, [0.0, 0.0]);
}
