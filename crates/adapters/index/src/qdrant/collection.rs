//! The vector collection: created when first needed, and inspected before use.

use super::attribute_indexes::AttributeIndexes;
use super::connection::{Connection, fault, unconfigured};
use super::labels::COLLECTIONS;
use super::points::{DOCUMENT, name};
use super::rejected;
use docent_domain::condition::Condition;
use docent_domain::fault::{Fault, FaultKind, Result};
use docent_domain::id::GenerationId;
use qdrant_client::qdrant::create_vector_name_request::VectorConfig;
use qdrant_client::qdrant::quantization_config::Quantization;
use qdrant_client::qdrant::{
    CollectionExistsRequest, CreateCollection, CreateFieldIndexCollection, CreateVectorNameRequest,
    DenseVectorCreationConfig, Distance, FieldType, GetCollectionInfoRequest, HnswConfigDiff,
    QuantizationConfig, QuantizationType, ScalarQuantization, SparseIndexConfig, SparseVectorConfig,
    SparseVectorParams, UpdateCollection, Value, VectorParams, VectorParamsMap, VectorsConfig,
    vectors_config,
};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tonic::Code;

/// The field of a collection's metadata with the ID of its index generation.
const OWNER: &str = "docent_generation";

/// What is known about a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Dimensions of its dense vectors, if it has any.
    dimensions: Option<u64>,
    /// Whether its metadata names the owner, or need not.
    has_owner: bool,
    /// Whether it has the payload indexes of [`INDEXED`].
    is_indexed: bool,
}

/// The payload fields by which points are filtered, with their types.
const INDEXED: [(&str, FieldType); 2] = [(DOCUMENT, FieldType::Uuid), (COLLECTIONS, FieldType::Keyword)];

#[derive(Debug)]
pub(super) struct Collection {
    name: String,
    /// The index generation that it must belong to; `None` if any.
    owner: Option<GenerationId>,
    is_on_disk: bool,
    attributes: AttributeIndexes,
    known: Mutex<Option<Shape>>,
    /// Held while the collection is created, so that this process creates it once.
    creating: tokio::sync::Mutex<()>,
}

impl Collection {
    pub(super) fn new(name: String, owner: Option<GenerationId>, is_on_disk: bool) -> Self {
        let attributes = AttributeIndexes::default();
        Self {
            name,
            owner,
            is_on_disk,
            attributes,
            known: Mutex::new(None),
            creating: tokio::sync::Mutex::new(()),
        }
    }

    pub(super) fn is_on_disk(&self) -> bool {
        self.is_on_disk
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Inspects the collection again before the next use.
    pub(super) fn invalidate(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.attributes.clear();
    }

    fn known(&self) -> Option<Shape> {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, shape: Shape) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(shape);
    }

    /// Whether the collection exists.
    pub(super) async fn exists(&self, connection: &Connection) -> Result<bool> {
        let request = CollectionExistsRequest { collection_name: self.name.clone() };
        let answer = connection.read(connection.collections().collection_exists(request)).await;
        let answer = answer.map_err(|status| fault("check that the collection exists", status))?;
        Ok(answer.result.is_some_and(|result| result.exists))
    }

    /// Checks that the collection, if it exists, belongs to its owner.
    pub(super) async fn verify(&self, connection: &Connection) -> Result<()> {
        if self.known().is_none()
            && let Some(shape) = self.inspect(connection).await?
        {
            self.remember(shape);
        }
        Ok(())
    }

    /// The dimensions of the collection's dense vectors; none if it has none or does not exist.
    pub(super) async fn dimensions(&self, connection: &Connection) -> Result<Option<u64>> {
        Ok(self.inspect(connection).await?.and_then(|shape| shape.dimensions))
    }

    /// Whether the collection has dense vectors with these dimensions; false if it has none.
    ///
    /// # Errors
    /// If its vectors have other dimensions.
    pub(super) async fn has_dense(&self, connection: &Connection, dimensions: u64) -> Result<bool> {
        let fits = |shape: Option<Shape>| shape.and_then(|shape| shape.dimensions) == Some(dimensions);
        if fits(self.known()) {
            return Ok(true);
        }
        let shape = self.inspect(connection).await?;
        if let Some(shape) = shape {
            self.check(shape, dimensions)?;
            self.remember(shape);
        }
        Ok(fits(shape))
    }

    /// Creates the collection if it does not exist, and adds what it lacks: dense vectors with these dimensions, its
    /// owner, and payload indexes.
    ///
    /// # Errors
    /// If its vectors have other dimensions, or it cannot be created.
    pub(super) async fn ensure(&self, connection: &Connection, dimensions: Option<u64>) -> Result<()> {
        let fits = |shape: Shape| {
            let has_vectors = dimensions.is_none() || shape.dimensions == dimensions;
            shape.has_owner && shape.is_indexed && has_vectors
        };
        if self.known().is_some_and(fits) {
            return Ok(());
        }
        let _creating = self.creating.lock().await;
        if self.known().is_some_and(fits) {
            return Ok(());
        }
        let mut shape = match self.inspect(connection).await? {
            Some(shape) => shape,
            None => {
                self.create(connection, dimensions).await?;
                // Another replica may have created it first, with other dimensions.
                let created = self.inspect(connection).await?;
                created.ok_or_else(|| unavailable("the collection was deleted while it was created"))?
            }
        };
        if let Some(dimensions) = dimensions {
            self.check(shape, dimensions)?;
            if shape.dimensions.is_none() {
                self.add_dense(connection, dimensions).await?;
                shape.dimensions = Some(dimensions);
            }
        }
        if !shape.has_owner {
            self.record_owner(connection).await?;
            shape.has_owner = true;
        }
        // Indexes are missing in collections of earlier versions, and after a crash. Creating one again has no effect.
        if !shape.is_indexed {
            self.create_indexes(connection).await?;
            shape.is_indexed = true;
        }
        self.remember(shape);
        Ok(())
    }

    /// Requests indexes for the attributes of a condition, unless they exist.
    pub(super) async fn index_attributes(&self, connection: &Connection, condition: &Condition) {
        if self.known().is_some() {
            self.attributes.ensure(connection, &self.name, condition).await;
        }
    }

    fn check(&self, shape: Shape, dimensions: u64) -> Result<()> {
        match shape.dimensions {
            Some(actual) if actual != dimensions => Err(rejected(format!(
                "the collection {} has vectors with {actual} dimensions, but the embedding model returns {dimensions}: \
                 use the model it was created with, or delete the collection and ingest the documents again",
                self.name
            ))),
            _ => Ok(()),
        }
    }

    /// Reads the collection's vectors; `None` if it does not exist.
    ///
    /// # Errors
    /// If it belongs to another installation.
    pub(super) async fn inspect(&self, connection: &Connection) -> Result<Option<Shape>> {
        let request = GetCollectionInfoRequest { collection_name: self.name.clone() };
        let info = match connection.read(connection.collections().get(request)).await {
            Err(status) if status.code() == Code::NotFound => return Ok(None),
            answer => answer.map_err(|status| fault("inspect the collection", status))?.result,
        };
        let info = info.unwrap_or_default();
        let is_indexed = INDEXED.iter().all(|(field, _)| info.payload_schema.contains_key(*field));
        let config = info.config.unwrap_or_default();
        let recorded = config.metadata.get(OWNER).and_then(Value::as_str);
        if let (Some(recorded), Some(owner)) = (recorded, self.owner)
            && *recorded != owner.to_string()
        {
            return Err(unconfigured(format!(
                "the vector collection {} belongs to another installation (index {recorded}, not {owner}): \
                 set another DOCENT_QDRANT_COLLECTION",
                self.name
            )));
        }
        let has_owner = recorded.is_some() || self.owner.is_none();
        let params = config.params.unwrap_or_default();
        let sparse = params.sparse_vectors_config.unwrap_or_default().map;
        if !sparse.contains_key(name::TERMS) {
            return Err(rejected(format!(
                "the collection {} was not created by Docent (it has no sparse vector `terms`): use another name, or delete it",
                self.name
            )));
        }
        let dense = match params.vectors_config.and_then(|config| config.config) {
            Some(vectors_config::Config::ParamsMap(vectors)) => {
                vectors.map.get(name::DENSE).map(|dense| dense.size)
            }
            _ => None,
        };
        Ok(Some(Shape { dimensions: dense, has_owner, is_indexed }))
    }

    async fn create(&self, connection: &Connection, dimensions: Option<u64>) -> Result<()> {
        let request = CreateCollection {
            metadata: self.metadata(),
            ..creation(&self.name, dimensions, self.is_on_disk)
        };
        match connection.write(connection.collections().create(request)).await {
            Err(status) if status.code() == Code::AlreadyExists => Ok(()),
            answer => answer.map(|_| ()).map_err(|status| fault("create the collection", status)),
        }
    }

    fn metadata(&self) -> HashMap<String, Value> {
        self.owner.map(|owner| (OWNER.to_owned(), Value::from(owner.to_string()))).into_iter().collect()
    }

    /// Adds the owner to a collection that an earlier version created. Servers before 1.16 ignore it.
    async fn record_owner(&self, connection: &Connection) -> Result<()> {
        let request = UpdateCollection {
            collection_name: self.name.clone(),
            metadata: self.metadata(),
            ..UpdateCollection::default()
        };
        let made = connection.write(connection.collections().update(request)).await;
        made.map(|_| ()).map_err(|status| fault("record the owner of the collection", status))
    }

    /// Adds dense vectors to a collection that was created without them. Requires Qdrant 1.18. Succeeds if another
    /// replica has added them.
    async fn add_dense(&self, connection: &Connection, dimensions: u64) -> Result<()> {
        let dense = DenseVectorCreationConfig {
            size: dimensions,
            distance: Distance::Cosine.into(),
            ..DenseVectorCreationConfig::default()
        };
        let request = CreateVectorNameRequest {
            collection_name: self.name.clone(),
            wait: Some(true),
            vector_name: name::DENSE.to_owned(),
            vector_config: Some(VectorConfig::DenseConfig(dense)),
            ..CreateVectorNameRequest::default()
        };
        match connection.write(connection.points().create_vector_name(request)).await {
            Err(status) if status.code() == Code::Unimplemented => Err(rejected(format!(
                "the collection {} was created without dense vectors, which this server cannot add: \
                 delete the collection and ingest the documents again",
                self.name
            ))),
            answer => {
                answer.map(|_| ()).map_err(|status| fault("add dense vectors to the collection", status))
            }
        }
    }

    async fn create_indexes(&self, connection: &Connection) -> Result<()> {
        for (field, kind) in INDEXED {
            let request = CreateFieldIndexCollection {
                collection_name: self.name.clone(),
                wait: Some(true),
                field_name: field.to_owned(),
                field_type: Some(kind.into()),
                ..CreateFieldIndexCollection::default()
            };
            let made = connection.write(connection.points().create_field_index(request)).await;
            made.map_err(|status| fault("create a payload index", status))?;
        }
        Ok(())
    }
}

/// The request that creates the collection.
#[expect(deprecated, reason = "servers before 1.18 do not know what replaces these fields")]
fn creation(name: &str, dimensions: Option<u64>, is_on_disk: bool) -> CreateCollection {
    let on_disk = is_on_disk.then_some(true);
    let dense = dimensions.map(|size| {
        let bytes = on_disk.map(|_| ScalarQuantization {
            r#type: QuantizationType::Int8.into(),
            always_ram: Some(true),
            ..ScalarQuantization::default()
        });
        let params = VectorParams {
            size,
            distance: Distance::Cosine.into(),
            on_disk,
            hnsw_config: on_disk.map(|_| HnswConfigDiff { on_disk, ..HnswConfigDiff::default() }),
            quantization_config: bytes
                .map(|bytes| QuantizationConfig { quantization: Some(Quantization::Scalar(bytes)) }),
            ..VectorParams::default()
        };
        (name::DENSE.to_owned(), params)
    });
    let dense = VectorParamsMap { map: dense.into_iter().collect() };
    let index = on_disk.map(|_| SparseIndexConfig { on_disk, ..SparseIndexConfig::default() });
    // No modifier, since queries contain the weights.
    let sparse = [(name::TERMS.to_owned(), SparseVectorParams { index, modifier: None })];
    let sparse = SparseVectorConfig { map: sparse.into() };
    CreateCollection {
        collection_name: name.to_owned(),
        vectors_config: Some(VectorsConfig { config: Some(vectors_config::Config::ParamsMap(dense)) }),
        sparse_vectors_config: Some(sparse),
        on_disk_payload: on_disk,
        ..CreateCollection::default()
    }
}

fn unavailable(message: &'static str) -> Fault {
    Fault::new(docent_domain::fault::Component::VectorStore, FaultKind::Unavailable, message)
}
