//! The calls of the protocol.

use super::Service;
use super::stored::{Stored, payload, read_back, uuid};
use ::qdrant_client::qdrant::collections_server::Collections;
use ::qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use ::qdrant_client::qdrant::points_server::Points;
use ::qdrant_client::qdrant::qdrant_server::Qdrant as Server;
use ::qdrant_client::qdrant::{value, vectors_config, *};
use std::collections::BTreeMap;
use tonic::{Request, Response, Status};

/// Implements a service with methods that answer from the state and methods that are not supported.
macro_rules! service {
    (
        $service:ident;
        $(async fn $name:ident($state:ident, $request:ident: $question:ty) -> $answer:ty $body:block)+
        refused: $($refused:ident($no:ty) -> $never:ty,)*
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
            )*
        }
    };
}

service! {
    Points;

    async fn upsert(state, request: UpsertPoints) -> PointsOperationResponse {
        assert_eq!(request.wait, Some(true));
        state.check_disk()?;
        let points = state.saved(request.points);
        state.collection(&request.collection_name)?.write_all(points)?;
        Ok(PointsOperationResponse::default())
    }

    async fn delete(state, request: DeletePoints) -> PointsOperationResponse {
        assert_eq!(request.wait, Some(true));
        state.check_disk()?;
        let stored = state.collection(&request.collection_name)?;
        let Some(PointsSelectorOneOf::Filter(filter)) = request.points.and_then(|points| points.points_selector_one_of)
        else {
            return Err(Status::unimplemented("selector"));
        };
        let gone: Vec<_> = stored.matching(Some(&filter))?.iter().map(|point| uuid(point.id.as_ref())).collect();
        let gone = state.saved(gone);
        state.collection(&request.collection_name)?.points.retain(|id, _| !gone.contains(id));
        Ok(PointsOperationResponse::default())
    }

    async fn set_payload(state, request: SetPayloadPoints) -> PointsOperationResponse {
        assert_eq!((request.wait, request.key), (Some(true), None));
        state.check_disk()?;
        let stored = state.collection(&request.collection_name)?;
        let Some(PointsSelectorOneOf::Filter(filter)) =
            request.points_selector.and_then(|points| points.points_selector_one_of)
        else {
            return Err(Status::unimplemented("selector"));
        };
        stored.set_payload(&filter, &request.payload)?;
        Ok(PointsOperationResponse::default())
    }

    async fn create_field_index(state, request: CreateFieldIndexCollection) -> PointsOperationResponse {
        state.check_disk()?;
        state.collection(&request.collection_name)?.indexed.push(request.field_name);
        Ok(PointsOperationResponse::default())
    }

    async fn create_vector_name(state, request: CreateVectorNameRequest) -> PointsOperationResponse {
        let Some(create_vector_name_request::VectorConfig::DenseConfig(dense)) = request.vector_config else {
            return Err(Status::unimplemented("sparse"));
        };
        assert_eq!((request.vector_name.as_str(), dense.distance), ("dense", Distance::Cosine as i32));
        state.check_disk()?;
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
        let retrieved = |point: &PointStruct| RetrievedPoint {
            id: point.id.clone(),
            payload: payload(point, request.with_payload.as_ref()),
            vectors: read_back(point, request.with_vectors.as_ref()),
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
            ScoredPoint {
                id: point.id.clone(),
                payload: payload(point, request.with_payload.as_ref()),
                score,
                vectors: read_back(point, request.with_vectors.as_ref()),
                ..ScoredPoint::default()
            }
        });
        Ok(QueryResponse { result: result.collect(), ..QueryResponse::default() })
    }

    async fn get(state, request: GetPoints) -> GetResponse {
        let stored = state.collection(&request.collection_name)?;
        let found = request.ids.iter().filter_map(|id| stored.points.get(&uuid(Some(id))));
        let result = found.map(|point| RetrievedPoint {
            id: point.id.clone(),
            payload: payload(point, request.with_payload.as_ref()),
            vectors: read_back(point, request.with_vectors.as_ref()),
            ..RetrievedPoint::default()
        });
        Ok(GetResponse { result: result.collect(), ..GetResponse::default() })
    }

    refused:
    update_vectors(UpdatePointVectors) -> PointsOperationResponse,
    delete_vectors(DeletePointVectors) -> PointsOperationResponse,
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
    Server;

    async fn health_check(state, request: HealthCheckRequest) -> HealthCheckReply {
        let HealthCheckRequest {} = request;
        Ok(HealthCheckReply { title: "qdrant".to_owned(), version: state.version.to_owned(), commit: None })
    }

    refused:
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
        let metadata = stored.metadata.clone();
        let config = CollectionConfig { params: Some(params), metadata, ..CollectionConfig::default() };
        let schema = stored.indexed.iter().map(|field| (field.clone(), PayloadSchemaInfo::default()));
        let payload_schema = schema.collect();
        let info = CollectionInfo { config: Some(config), payload_schema, ..CollectionInfo::default() };
        Ok(GetCollectionInfoResponse { result: Some(info), ..GetCollectionInfoResponse::default() })
    }

    async fn create(state, request: CreateCollection) -> CollectionOperationResponse {
        state.check_disk()?;
        let created = request.clone();
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
        assert!(sparse.values().all(|params| params.modifier.is_none()), "weights of the server's own");
        let stored = Stored {
            dense,
            sparse: sparse.into_keys().collect(),
            metadata: request.metadata,
            created,
            ..Stored::default()
        };
        state.collections.insert(name, stored);
        Ok(CollectionOperationResponse { result: true, ..CollectionOperationResponse::default() })
    }

    async fn update(state, request: UpdateCollection) -> CollectionOperationResponse {
        state.collection(&request.collection_name)?.metadata.extend(request.metadata);
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
    update_aliases(ChangeAliases) -> CollectionOperationResponse,
    list_collection_aliases(ListCollectionAliasesRequest) -> ListAliasesResponse,
    list_aliases(ListAliasesRequest) -> ListAliasesResponse,
    collection_cluster_info(CollectionClusterInfoRequest) -> CollectionClusterInfoResponse,
    update_collection_cluster_setup(UpdateCollectionClusterSetupRequest) -> UpdateCollectionClusterSetupResponse,
    create_shard_key(CreateShardKeyRequest) -> CreateShardKeyResponse,
    delete_shard_key(DeleteShardKeyRequest) -> DeleteShardKeyResponse,
    list_shard_keys(ListShardKeysRequest) -> ListShardKeysResponse,
}
