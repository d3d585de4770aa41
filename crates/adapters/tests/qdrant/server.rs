//! A server that speaks the part of Qdrant's protocol that the adapter uses, over real connections.
//!
//! It is as strict as the real one where the adapter could err: unknown collections and vectors,
//! dimensions, places in sparse vectors. What it was not made for it refuses.

use ::qdrant_client::qdrant::{
    collections_server::{Collections, CollectionsServer},
    condition::ConditionOneOf,
    expression,
    r#match::MatchValue,
    point_id::PointIdOptions,
    points_selector::PointsSelectorOneOf,
    points_server::{Points, PointsServer},
    query, value, vector, vector_input, vectors, vectors_config, *,
};
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex},
};
use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
};
use tonic::{
    Request, Response, Status,
    transport::{Server, server::TcpIncoming},
};

/// The state of a server, which a test may look at and change.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) collections: HashMap<String, Stored>,
    /// What becomes of the next calls, one each: an answer, or a fault in its place.
    pub(crate) outcomes: VecDeque<Result<(), Status>>,
    /// Whether calls are never answered.
    pub(crate) silent: bool,
    /// The key that calls must have.
    pub(crate) key: Option<&'static str>,
    /// The trace that the last call belonged to.
    pub(crate) traceparent: Option<String>,
    /// The names of the calls so far.
    pub(crate) calls: Vec<&'static str>,
}

#[derive(Default)]
pub(crate) struct Stored {
    pub(crate) dense: Option<u64>,
    pub(crate) sparse: Vec<String>,
    pub(crate) indexed: Vec<String>,
    pub(crate) points: BTreeMap<String, PointStruct>,
}

/// A running server; it stops when dropped.
pub(crate) struct Fake {
    pub(crate) url: String,
    pub(crate) state: Arc<Mutex<State>>,
    // Its own, so that stopping the server ends its connections too. `None` once it is stopped.
    runtime: Option<Runtime>,
}

impl Fake {
    pub(crate) fn start() -> Self {
        Self::at("127.0.0.1:0", Arc::default())
    }

    /// A server at an address, with the state that another has had.
    pub(crate) fn at(address: &str, state: Arc<Mutex<State>>) -> Self {
        let listener = std::net::TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let service = Service(Arc::clone(&state));
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            Server::builder()
                .add_service(PointsServer::new(service.clone()))
                .add_service(CollectionsServer::new(service))
                .serve_with_incoming(TcpIncoming::from(listener))
                .await
                .unwrap();
        });
        Self { url, state, runtime: Some(runtime) }
    }

    /// Stops it and waits until its connections are closed.
    pub(crate) async fn stop(mut self) -> Arc<Mutex<State>> {
        let runtime = self.runtime.take();
        tokio::task::spawn_blocking(|| drop(runtime)).await.unwrap();
        Arc::clone(&self.state)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[derive(Clone)]
struct Service(Arc<Mutex<State>>);

impl Service {
    async fn answer<Q, A>(
        &self,
        name: &'static str,
        request: Request<Q>,
        answer: impl FnOnce(&mut State, Q) -> Result<A, Status>,
    ) -> Result<Response<A>, Status> {
        if self.0.lock().unwrap().silent {
            std::future::pending::<()>().await;
        }
        let state = &mut *self.0.lock().unwrap();
        state.calls.push(name);
        let text = |name| request.metadata().get(name).and_then(|value| value.to_str().ok());
        let key = text("api-key");
        state.traceparent = text("traceparent").map(str::to_owned);
        if state.key.is_some() && key != state.key {
            return Err(Status::unauthenticated("Must provide an API key"));
        }
        state.outcomes.pop_front().unwrap_or(Ok(()))?;
        answer(state, request.into_inner()).map(Response::new)
    }
}

impl State {
    fn collection(&mut self, name: &str) -> Result<&mut Stored, Status> {
        let absent = || Status::not_found(format!("Not found: Collection `{name}` doesn't exist!"));
        self.collections.get_mut(name).ok_or_else(absent)
    }
}

impl Stored {
    fn write(&mut self, point: PointStruct) -> Result<(), Status> {
        for (name, vector) in named(&point) {
            match vector.vector.unwrap() {
                vector::Vector::Dense(dense) => self.check(&name, dense.data.len())?,
                vector::Vector::Sparse(sparse) => {
                    let ordered = sparse.indices.windows(2).all(|pair| pair[0] < pair[1]);
                    if !ordered || sparse.indices.len() != sparse.values.len() {
                        return Err(Status::invalid_argument("indices must be unique"));
                    }
                    if !self.sparse.contains(&name) {
                        return Err(Status::invalid_argument(format!(
                            "Not existing vector name error: {name}"
                        )));
                    }
                }
                _ => return Err(Status::unimplemented("vector")),
            }
        }
        self.points.insert(uuid(point.id.as_ref()), point);
        Ok(())
    }

    fn check(&self, name: &str, size: usize) -> Result<(), Status> {
        match self.dense.filter(|_| name == "dense") {
            None => Err(Status::invalid_argument(format!("Not existing vector name error: {name}"))),
            Some(expected) if expected != size as u64 => {
                let message = format!("Vector dimension error: expected dim: {expected}, got {size}");
                Err(Status::invalid_argument(message))
            }
            Some(_) => Ok(()),
        }
    }

    fn matching(&self, filter: Option<&Filter>) -> Result<Vec<&PointStruct>, Status> {
        let mut found = Vec::new();
        for point in self.points.values() {
            let fits = |condition: &Condition| holds(point, condition);
            let filter = filter.cloned().unwrap_or_default();
            let wanted = filter.must.iter().map(fits).collect::<Result<Vec<_>, _>>()?;
            let unwanted = filter.must_not.iter().map(fits).collect::<Result<Vec<_>, _>>()?;
            if wanted.into_iter().all(|fits| fits) && !unwanted.into_iter().any(|fits| fits) {
                found.push(point);
            }
        }
        Ok(found)
    }

    /// The ids with their scores, best first.
    fn ranking(&self, query: PrefetchQuery) -> Result<Vec<(String, f32)>, Status> {
        let sources = query.prefetch.into_iter().map(|source| self.ranking(source));
        let sources = sources.collect::<Result<Vec<_>, _>>()?;
        let using = query.using.unwrap_or_default();
        let scores = match query.query.and_then(|query| query.variant) {
            Some(query::Variant::Nearest(near)) => {
                self.nearest(&using, near.variant.unwrap(), query.filter.as_ref())?
            }
            Some(query::Variant::Formula(formula)) => {
                let sources: Vec<HashMap<_, _>> = sources.into_iter().map(HashMap::from_iter).collect();
                let ids = sources
                    .iter()
                    .flat_map(HashMap::keys)
                    .cloned()
                    .collect::<std::collections::BTreeSet<_>>();
                let score = |id: &String| value_of(formula.expression.as_ref().unwrap(), id, &sources);
                ids.into_iter().map(|id| Ok((id.clone(), score(&id)?))).collect::<Result<_, Status>>()?
            }
            Some(query::Variant::Fusion(fusion)) if fusion == Fusion::Rrf as i32 => {
                let mut fused = BTreeMap::<String, f32>::new();
                for (rank, (id, _)) in sources.into_iter().flat_map(|source| source.into_iter().enumerate()) {
                    *fused.entry(id).or_default() += 1.0 / (rank as f32 + 2.0);
                }
                fused
            }
            _ => return Err(Status::unimplemented("query")),
        };
        let good = |score: &f32| query.score_threshold.is_none_or(|threshold| *score > threshold);
        let mut ranking: Vec<_> = scores.into_iter().filter(|(_, score)| good(score)).collect();
        ranking.sort_by(|a, b| b.1.total_cmp(&a.1));
        ranking.truncate(query.limit.unwrap_or(10) as usize);
        Ok(ranking)
    }

    fn nearest(
        &self,
        using: &str,
        sought: vector_input::Variant,
        filter: Option<&Filter>,
    ) -> Result<BTreeMap<String, f32>, Status> {
        let mut scores = BTreeMap::new();
        let points = self.matching(filter)?;
        match sought {
            vector_input::Variant::Dense(sought) => {
                self.check(using, sought.data.len())?;
                for (id, vector) in with(&points, using) {
                    let vector::Vector::Dense(dense) = vector else { continue };
                    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
                    let norms = product(&dense.data, &dense.data) * product(&sought.data, &sought.data);
                    scores.insert(id, product(&dense.data, &sought.data) / norms.sqrt());
                }
            }
            vector_input::Variant::Sparse(sought) => {
                let all: Vec<&PointStruct> = self.points.values().collect();
                let all = with(&all, using);
                for (id, vector) in with(&points, using) {
                    let mut score = None;
                    for (place, weight) in sought.indices.iter().zip(&sought.values) {
                        let frequency =
                            all.iter().filter(|(_, vector)| at(vector, *place).is_some()).count() as f32;
                        let idf = ((all.len() as f32 - frequency + 0.5) / (frequency + 0.5) + 1.0).ln();
                        if let Some(value) = at(&vector, *place) {
                            *score.get_or_insert(0.0) += weight * idf * value;
                        }
                    }
                    scores.extend(score.map(|score| (id, score)));
                }
            }
            _ => return Err(Status::unimplemented("vector input")),
        }
        Ok(scores)
    }
}

fn uuid(id: Option<&PointId>) -> String {
    match &id.unwrap().point_id_options {
        Some(PointIdOptions::Uuid(id)) => id.clone(),
        other => panic!("not a UUID: {other:?}"),
    }
}

fn named(point: &PointStruct) -> HashMap<String, Vector> {
    match point.vectors.clone().and_then(|vectors| vectors.vectors_options) {
        Some(vectors::VectorsOptions::Vectors(named)) => named.vectors,
        other => panic!("not named: {other:?}"),
    }
}

/// The dense vector as the server gives it back.
fn read_back(point: &PointStruct) -> VectorsOutput {
    let dense = |(name, vector): (String, Vector)| match vector.vector {
        Some(vector::Vector::Dense(dense)) => {
            let vector = Some(vector_output::Vector::Dense(dense));
            Some((name, VectorOutput { vector, ..VectorOutput::default() }))
        }
        _ => None,
    };
    let vectors = named(point).into_iter().filter_map(dense).collect();
    let named = vectors_output::VectorsOptions::Vectors(NamedVectorsOutput { vectors });
    VectorsOutput { vectors_options: Some(named) }
}

fn with(points: &[&PointStruct], name: &str) -> Vec<(String, vector::Vector)> {
    let vector = |point: &PointStruct| named(point).remove(name)?.vector;
    points.iter().filter_map(|point| Some((uuid(point.id.as_ref()), vector(point)?))).collect()
}

fn at(vector: &vector::Vector, place: u32) -> Option<f32> {
    let vector::Vector::Sparse(sparse) = vector else { return None };
    sparse.indices.iter().position(|index| *index == place).map(|at| sparse.values[at])
}

fn holds(point: &PointStruct, condition: &Condition) -> Result<bool, Status> {
    match condition.condition_one_of.as_ref().unwrap() {
        ConditionOneOf::HasId(ids) => Ok(ids.has_id.iter().any(|id| Some(id) == point.id.as_ref())),
        ConditionOneOf::Field(field) => {
            let Some(Value { kind: Some(value::Kind::StringValue(value)) }) = point.payload.get(&field.key)
            else {
                return Ok(false);
            };
            match field.r#match.as_ref().and_then(|fits| fits.match_value.as_ref()) {
                Some(MatchValue::Keyword(word)) => Ok(word == value),
                Some(MatchValue::Keywords(words)) => Ok(words.strings.contains(value)),
                _ => Err(Status::unimplemented("match")),
            }
        }
        _ => Err(Status::unimplemented("condition")),
    }
}

fn value_of(of: &Expression, id: &str, sources: &[HashMap<String, f32>]) -> Result<f32, Status> {
    let values =
        |of: &[Expression]| of.iter().map(|of| value_of(of, id, sources)).collect::<Result<Vec<_>, _>>();
    match of.variant.as_ref().unwrap() {
        expression::Variant::Constant(value) => Ok(*value),
        expression::Variant::Variable(name) => {
            let number = name.strip_prefix("$score[").and_then(|rest| rest.strip_suffix(']')).unwrap();
            Ok(sources[number.parse::<usize>().unwrap()].get(id).copied().unwrap_or(0.0))
        }
        expression::Variant::Mult(of) => Ok(values(&of.mult)?.into_iter().product()),
        expression::Variant::Sum(of) => Ok(values(&of.sum)?.into_iter().sum()),
        _ => Err(Status::unimplemented("expression")),
    }
}

/// Implements a service whose methods answer from the state, and others that refuse.
macro_rules! service {
    (
        $service:ident;
        $(async fn $name:ident($state:ident, $request:ident: $question:ty) -> $answer:ty $body:block)+
        refused: $($refused:ident($no:ty) -> $never:ty,)+
    ) => {
        #[tonic::async_trait]
        impl $service for Service {
            $(
                async fn $name(&self, request: Request<$question>) -> Result<Response<$answer>, Status> {
                    self.answer(stringify!($name), request, |$state, $request| $body).await
                }
            )+
            $(
                async fn $refused(&self, _: Request<$no>) -> Result<Response<$never>, Status> {
                    Err(Status::unimplemented(stringify!($refused)))
                }
            )+
        }
    };
}

service! {
    Points;

    async fn upsert(state, request: UpsertPoints) -> PointsOperationResponse {
        assert_eq!(request.wait, Some(true));
        let stored = state.collection(&request.collection_name)?;
        for point in request.points {
            stored.write(point)?;
        }
        Ok(PointsOperationResponse::default())
    }

    async fn delete(state, request: DeletePoints) -> PointsOperationResponse {
        assert_eq!(request.wait, Some(true));
        let stored = state.collection(&request.collection_name)?;
        let Some(PointsSelectorOneOf::Filter(filter)) = request.points.and_then(|points| points.points_selector_one_of)
        else {
            return Err(Status::unimplemented("selector"));
        };
        let gone: Vec<_> = stored.matching(Some(&filter))?.iter().map(|point| uuid(point.id.as_ref())).collect();
        stored.points.retain(|id, _| !gone.contains(id));
        Ok(PointsOperationResponse::default())
    }

    async fn create_field_index(state, request: CreateFieldIndexCollection) -> PointsOperationResponse {
        state.collection(&request.collection_name)?.indexed.push(request.field_name);
        Ok(PointsOperationResponse::default())
    }

    async fn create_vector_name(state, request: CreateVectorNameRequest) -> PointsOperationResponse {
        let Some(create_vector_name_request::VectorConfig::DenseConfig(dense)) = request.vector_config else {
            return Err(Status::unimplemented("sparse"));
        };
        assert_eq!((request.vector_name.as_str(), dense.distance), ("dense", Distance::Cosine as i32));
        state.collection(&request.collection_name)?.dense = Some(dense.size);
        Ok(PointsOperationResponse::default())
    }

    async fn count(state, request: CountPoints) -> CountResponse {
        assert_eq!(request.exact, Some(true));
        let count = state.collection(&request.collection_name)?.matching(request.filter.as_ref())?.len() as u64;
        Ok(CountResponse { result: Some(CountResult { count }), ..CountResponse::default() })
    }

    async fn scroll(state, request: ScrollPoints) -> ScrollResponse {
        let stored = state.collection(&request.collection_name)?;
        let from = request.offset.map_or_else(String::new, |offset| uuid(Some(&offset)));
        let found = stored.matching(request.filter.as_ref())?;
        let mut rest = found.into_iter().filter(|point| uuid(point.id.as_ref()) >= from);
        let page: Vec<_> = rest.by_ref().take(request.limit.unwrap_or(10) as usize).collect();
        let wants_vectors = request.with_vectors.as_ref().is_some_and(|wanted| *wanted != false.into());
        let retrieved = |point: &PointStruct| RetrievedPoint {
            id: point.id.clone(),
            payload: point.payload.clone(),
            vectors: wants_vectors.then(|| read_back(point)),
            ..RetrievedPoint::default()
        };
        Ok(ScrollResponse {
            next_page_offset: rest.next().and_then(|point| point.id.clone()),
            result: page.into_iter().map(retrieved).collect(),
            ..ScrollResponse::default()
        })
    }

    async fn facet(state, request: FacetCounts) -> FacetResponse {
        assert_eq!(request.exact, Some(true));
        let stored = state.collection(&request.collection_name)?;
        if !stored.indexed.contains(&request.key) {
            return Err(Status::invalid_argument("facets need an index"));
        }
        let mut counts = BTreeMap::<String, u64>::new();
        for point in stored.matching(request.filter.as_ref())? {
            if let Some(Value { kind: Some(value::Kind::StringValue(value)) }) = point.payload.get(&request.key) {
                *counts.entry(value.clone()).or_default() += 1;
            }
        }
        let hit = |(value, count)| FacetHit {
            value: Some(FacetValue { variant: Some(facet_value::Variant::StringValue(value)) }),
            count,
        };
        let hits = counts.into_iter().map(hit).take(request.limit.unwrap_or(10) as usize).collect();
        Ok(FacetResponse { hits, ..FacetResponse::default() })
    }

    async fn query(state, request: QueryPoints) -> QueryResponse {
        let stored = state.collection(&request.collection_name)?;
        let root = PrefetchQuery {
            prefetch: request.prefetch,
            query: request.query,
            using: request.using,
            filter: request.filter,
            params: None,
            score_threshold: request.score_threshold,
            limit: request.limit,
            lookup_from: None,
        };
        let result = stored.ranking(root)?.into_iter().map(|(id, score)| {
            let point = &stored.points[&id];
            ScoredPoint { id: point.id.clone(), payload: point.payload.clone(), score, ..ScoredPoint::default() }
        });
        Ok(QueryResponse { result: result.collect(), ..QueryResponse::default() })
    }

    refused:
    get(GetPoints) -> GetResponse,
    update_vectors(UpdatePointVectors) -> PointsOperationResponse,
    delete_vectors(DeletePointVectors) -> PointsOperationResponse,
    set_payload(SetPayloadPoints) -> PointsOperationResponse,
    overwrite_payload(SetPayloadPoints) -> PointsOperationResponse,
    delete_payload(DeletePayloadPoints) -> PointsOperationResponse,
    clear_payload(ClearPayloadPoints) -> PointsOperationResponse,
    delete_field_index(DeleteFieldIndexCollection) -> PointsOperationResponse,
    delete_vector_name(DeleteVectorNameRequest) -> PointsOperationResponse,
    search(SearchPoints) -> SearchResponse,
    search_batch(SearchBatchPoints) -> SearchBatchResponse,
    search_groups(SearchPointGroups) -> SearchGroupsResponse,
    recommend(RecommendPoints) -> RecommendResponse,
    recommend_batch(RecommendBatchPoints) -> RecommendBatchResponse,
    recommend_groups(RecommendPointGroups) -> RecommendGroupsResponse,
    discover(DiscoverPoints) -> DiscoverResponse,
    discover_batch(DiscoverBatchPoints) -> DiscoverBatchResponse,
    update_batch(UpdateBatchPoints) -> UpdateBatchResponse,
    query_batch(QueryBatchPoints) -> QueryBatchResponse,
    query_groups(QueryPointGroups) -> QueryGroupsResponse,
    search_matrix_pairs(SearchMatrixPoints) -> SearchMatrixPairsResponse,
    search_matrix_offsets(SearchMatrixPoints) -> SearchMatrixOffsetsResponse,
}

service! {
    Collections;

    async fn get(state, request: GetCollectionInfoRequest) -> GetCollectionInfoResponse {
        let stored = state.collection(&request.collection_name)?;
        let dense = stored.dense.map(|size| ("dense".to_owned(), VectorParams { size, ..VectorParams::default() }));
        let map = VectorParamsMap { map: dense.into_iter().collect() };
        let sparse = stored.sparse.iter().map(|name| (name.clone(), SparseVectorParams::default()));
        let params = CollectionParams {
            vectors_config: Some(VectorsConfig { config: Some(vectors_config::Config::ParamsMap(map)) }),
            sparse_vectors_config: Some(SparseVectorConfig { map: sparse.collect() }),
            ..CollectionParams::default()
        };
        let config = CollectionConfig { params: Some(params), ..CollectionConfig::default() };
        let info = CollectionInfo { config: Some(config), ..CollectionInfo::default() };
        Ok(GetCollectionInfoResponse { result: Some(info), ..GetCollectionInfoResponse::default() })
    }

    async fn create(state, request: CreateCollection) -> CollectionOperationResponse {
        let name = request.collection_name;
        if state.collections.contains_key(&name) {
            let message = format!("Wrong input: Collection `{name}` already exists!");
            return Err(Status::already_exists(message));
        }
        let dense = match request.vectors_config.and_then(|config| config.config) {
            Some(vectors_config::Config::ParamsMap(map)) => map.map.get("dense").map(|dense| dense.size),
            other => panic!("not named: {other:?}"),
        };
        let sparse = request.sparse_vectors_config.unwrap().map;
        assert!(sparse.values().all(|params| params.modifier == Some(Modifier::Idf as i32)));
        let stored = Stored { dense, sparse: sparse.into_keys().collect(), ..Stored::default() };
        state.collections.insert(name, stored);
        Ok(CollectionOperationResponse { result: true, ..CollectionOperationResponse::default() })
    }

    async fn collection_exists(state, request: CollectionExistsRequest) -> CollectionExistsResponse {
        let exists = state.collections.contains_key(&request.collection_name);
        let result = Some(CollectionExists { exists });
        Ok(CollectionExistsResponse { result, ..CollectionExistsResponse::default() })
    }

    async fn delete(state, request: DeleteCollection) -> CollectionOperationResponse {
        let result = state.collections.remove(&request.collection_name).is_some();
        Ok(CollectionOperationResponse { result, ..CollectionOperationResponse::default() })
    }

    refused:
    list(ListCollectionsRequest) -> ListCollectionsResponse,
    update(UpdateCollection) -> CollectionOperationResponse,
    update_aliases(ChangeAliases) -> CollectionOperationResponse,
    list_collection_aliases(ListCollectionAliasesRequest) -> ListAliasesResponse,
    list_aliases(ListAliasesRequest) -> ListAliasesResponse,
    collection_cluster_info(CollectionClusterInfoRequest) -> CollectionClusterInfoResponse,
    update_collection_cluster_setup(UpdateCollectionClusterSetupRequest) -> UpdateCollectionClusterSetupResponse,
    create_shard_key(CreateShardKeyRequest) -> CreateShardKeyResponse,
    delete_shard_key(DeleteShardKeyRequest) -> DeleteShardKeyResponse,
    list_shard_keys(ListShardKeysRequest) -> ListShardKeysResponse,
}
