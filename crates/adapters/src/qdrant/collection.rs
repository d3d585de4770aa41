//! The collection: made when it is first needed, and looked at before it is relied on.

use super::{
    connection::{Connection, fault},
    points::{DOCUMENT, name},
    rejected,
};
use docent_ports::error::{Fault, FaultKind, Result};
use qdrant_client::qdrant::{
    CollectionExistsRequest, CreateCollection, CreateFieldIndexCollection, CreateVectorNameRequest,
    DenseVectorCreationConfig, Distance, FieldType, GetCollectionInfoRequest, SparseVectorConfig,
    SparseVectorParams, VectorParams, VectorParamsMap, VectorsConfig,
    create_vector_name_request::VectorConfig, vectors_config,
};
use std::sync::{Mutex, PoisonError};
use tonic::Code;

/// What a collection was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// Of its dense vectors, when it can hold any.
    dimensions: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Collection {
    name: String,
    known: Mutex<Option<Shape>>,
    /// Held while the collection is made, so that it is made once by this process.
    making: tokio::sync::Mutex<()>,
}

impl Collection {
    pub(super) fn new(name: String) -> Self {
        Self { name, known: Mutex::new(None), making: tokio::sync::Mutex::new(()) }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Looks anew before the collection is next relied on.
    pub(super) fn forget(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn known(&self) -> Option<Shape> {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn know(&self, shape: Shape) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(shape);
    }

    /// Whether there is a collection.
    pub(super) async fn exists(&self, connection: &Connection) -> Result<bool> {
        let request = CollectionExistsRequest { collection_name: self.name.clone() };
        let answer = connection.read(connection.collections().collection_exists(request)).await;
        let answer = answer.map_err(|status| fault("look for the collection", status))?;
        Ok(answer.result.is_some_and(|result| result.exists))
    }

    /// The size of the dense vectors that the collection can hold, if there is one that can hold any.
    pub(super) async fn dimensions(&self, connection: &Connection) -> Result<Option<u64>> {
        Ok(self.look(connection).await?.and_then(|shape| shape.dimensions))
    }

    /// Whether the collection holds dense vectors of that size; `false` when it holds none at all.
    ///
    /// # Errors
    /// When it holds vectors of another size.
    pub(super) async fn has_dense(&self, connection: &Connection, dimensions: u64) -> Result<bool> {
        let fits = |shape: Option<Shape>| shape.and_then(|shape| shape.dimensions) == Some(dimensions);
        if fits(self.known()) {
            return Ok(true);
        }
        let shape = self.look(connection).await?;
        if let Some(shape) = shape {
            self.check(shape, dimensions)?;
            self.know(shape);
        }
        Ok(fits(shape))
    }

    /// Makes sure that there is a collection, and that it can hold dense vectors of that size.
    ///
    /// # Errors
    /// When it holds vectors of another size, or cannot be made.
    pub(super) async fn ensure(&self, connection: &Connection, dimensions: Option<u64>) -> Result<()> {
        let fits = |shape: Shape| dimensions.is_none() || shape.dimensions == dimensions;
        if self.known().is_some_and(fits) {
            return Ok(());
        }
        let _making = self.making.lock().await;
        if self.known().is_some_and(fits) {
            return Ok(());
        }
        let mut shape = match self.look(connection).await? {
            Some(shape) => shape,
            None => {
                self.create(connection, dimensions).await?;
                // Another replica may have been quicker, with other dimensions.
                let made = self.look(connection).await?;
                made.ok_or_else(|| unavailable("the collection vanished while it was made"))?
            }
        };
        if let Some(dimensions) = dimensions {
            self.check(shape, dimensions)?;
            if shape.dimensions.is_none() {
                self.add_dense(connection, dimensions).await?;
                shape.dimensions = Some(dimensions);
            }
        }
        // It is there already but for a crash between the two; asking again changes nothing.
        self.index_documents(connection).await?;
        self.know(shape);
        Ok(())
    }

    fn check(&self, shape: Shape, dimensions: u64) -> Result<()> {
        match shape.dimensions {
            Some(there) if there != dimensions => Err(rejected(format!(
                "the collection {} holds vectors of {there} dimensions, the embedding model gives {dimensions}: \
                 use the model it was made with, or delete the collection and ingest the documents again",
                self.name
            ))),
            _ => Ok(()),
        }
    }

    /// What the collection is; `None` when there is none.
    async fn look(&self, connection: &Connection) -> Result<Option<Shape>> {
        let request = GetCollectionInfoRequest { collection_name: self.name.clone() };
        let info = match connection.read(connection.collections().get(request)).await {
            Err(status) if status.code() == Code::NotFound => return Ok(None),
            answer => answer.map_err(|status| fault("look at the collection", status))?.result,
        };
        let params = info.and_then(|info| info.config).and_then(|config| config.params).unwrap_or_default();
        let sparse = params.sparse_vectors_config.unwrap_or_default().map;
        if !sparse.contains_key(name::TERMS) {
            return Err(rejected(format!(
                "the collection {} is not one of ours: it lacks our sparse vector; name another one, or delete it",
                self.name
            )));
        }
        let dense = match params.vectors_config.and_then(|config| config.config) {
            Some(vectors_config::Config::ParamsMap(vectors)) => {
                vectors.map.get(name::DENSE).map(|dense| dense.size)
            }
            _ => None,
        };
        Ok(Some(Shape { dimensions: dense }))
    }

    async fn create(&self, connection: &Connection, dimensions: Option<u64>) -> Result<()> {
        let request = creation(&self.name, dimensions);
        match connection.write(connection.collections().create(request)).await {
            Err(status) if status.code() == Code::AlreadyExists => Ok(()),
            answer => answer.map(|_| ()).map_err(|status| fault("make the collection", status)),
        }
    }

    /// Lets a collection that was made without dense vectors hold some; servers before 1.18 cannot.
    /// That another replica has done the same meanwhile is no error.
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
                "the collection {} was made without dense vectors, and this server cannot add them: \
                 delete the collection and ingest the documents again",
                self.name
            ))),
            answer => {
                answer.map(|_| ()).map_err(|status| fault("add dense vectors to the collection", status))
            }
        }
    }

    async fn index_documents(&self, connection: &Connection) -> Result<()> {
        let request = CreateFieldIndexCollection {
            collection_name: self.name.clone(),
            wait: Some(true),
            field_name: DOCUMENT.to_owned(),
            field_type: Some(FieldType::Uuid.into()),
            ..CreateFieldIndexCollection::default()
        };
        let made = connection.write(connection.points().create_field_index(request)).await;
        made.map(|_| ()).map_err(|status| fault("index the document ids", status))
    }
}

/// How the collection is made.
fn creation(name: &str, dimensions: Option<u64>) -> CreateCollection {
    let dense = dimensions.map(|size| {
        let params = VectorParams { size, distance: Distance::Cosine.into(), ..VectorParams::default() };
        (name::DENSE.to_owned(), params)
    });
    let dense = VectorParamsMap { map: dense.into_iter().collect() };
    // Queries bring their own weights: no modifier.
    let sparse = [(name::TERMS.to_owned(), SparseVectorParams::default())];
    let sparse = SparseVectorConfig { map: sparse.into() };
    CreateCollection {
        collection_name: name.to_owned(),
        vectors_config: Some(VectorsConfig { config: Some(vectors_config::Config::ParamsMap(dense)) }),
        sparse_vectors_config: Some(sparse),
        ..CreateCollection::default()
    }
}

fn unavailable(message: &'static str) -> Fault {
    Fault::new(docent_ports::error::Component::VectorStore, FaultKind::Unavailable, message)
}
