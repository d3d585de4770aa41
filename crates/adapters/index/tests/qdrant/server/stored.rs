//! The points of a collection: writes and ranking.

use super::filter::fits;
use ::qdrant_client::qdrant::point_id::PointIdOptions;
use ::qdrant_client::qdrant::{query, value, vector, vector_input, vectors, *};
use std::collections::{BTreeMap, HashMap};
use tonic::Status;

/// A collection.
#[derive(Default)]
pub(crate) struct Stored {
    pub(crate) dense: Option<u64>,
    pub(crate) sparse: Vec<String>,
    pub(crate) indexed: Vec<String>,
    pub(crate) points: BTreeMap<String, PointStruct>,
    pub(crate) metadata: HashMap<String, Value>,
    /// The request that created the collection.
    pub(crate) created: CreateCollection,
    /// The points that the last request wrote after its first 32, which a restart forgets.
    pub(super) unsaved: Vec<String>,
}

/// Number of points that are written before a flush can come in between.
const BLOCK: usize = 32;

impl Stored {
    pub(super) fn write_all(&mut self, points: Vec<PointStruct>) -> Result<(), Status> {
        self.unsaved = points.iter().skip(BLOCK).map(|point| uuid(point.id.as_ref())).collect();
        points.into_iter().try_for_each(|point| self.write(point))
    }

    /// Ends without a crash, and starts with what had been saved: the fault of servers before 1.20.
    pub(super) fn restart(&mut self) {
        for id in std::mem::take(&mut self.unsaved) {
            self.points.remove(&id);
        }
    }

    fn write(&mut self, point: PointStruct) -> Result<(), Status> {
        for (name, vector) in named(&point) {
            match vector.vector.as_ref().unwrap() {
                vector::Vector::Dense(dense) => self.check(name, dense.data.len())?,
                vector::Vector::Sparse(sparse) => {
                    let ordered = sparse.indices.windows(2).all(|pair| pair[0] < pair[1]);
                    if !ordered || sparse.indices.len() != sparse.values.len() {
                        return Err(Status::invalid_argument("indices must be unique"));
                    }
                    if !self.sparse.contains(name) {
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

    pub(super) fn matching(&self, filter: Option<&Filter>) -> Result<Vec<&PointStruct>, Status> {
        let mut found = Vec::new();
        for point in self.points.values() {
            if filter.map_or(Ok(true), |filter| fits(point, filter))? {
                found.push(point);
            }
        }
        Ok(found)
    }

    /// Sets fields of the payload of all matching points. Null removes a field, as on the real server.
    pub(super) fn set_payload(
        &mut self,
        filter: &Filter,
        payload: &HashMap<String, Value>,
    ) -> Result<(), Status> {
        let ids: Vec<String> =
            self.matching(Some(filter))?.iter().map(|point| uuid(point.id.as_ref())).collect();
        for id in ids {
            let stored = &mut self.points.get_mut(&id).unwrap().payload;
            for (field, value) in payload {
                match value.kind {
                    None | Some(value::Kind::NullValue(_)) => drop(stored.remove(field)),
                    Some(_) => drop(stored.insert(field.clone(), value.clone())),
                }
            }
        }
        Ok(())
    }

    /// IDs with scores, best first.
    pub(super) fn ranking(&self, query: PrefetchQuery) -> Result<Vec<(String, f32)>, Status> {
        let sources = query.prefetch.into_iter().map(|source| self.ranking(source));
        let sources = sources.collect::<Result<Vec<_>, _>>()?;
        let using = query.using.unwrap_or_default();
        let scores = match query.query.and_then(|query| query.variant) {
            Some(query::Variant::Nearest(near)) => {
                self.nearest(&using, near.variant.unwrap(), query.filter.as_ref())?
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
                for (id, vector) in with(&points, using) {
                    let mut score = None;
                    for (place, weight) in sought.indices.iter().zip(&sought.values) {
                        if let Some(value) = at(vector, *place) {
                            *score.get_or_insert(0.0) += weight * value;
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

pub(super) fn uuid(id: Option<&PointId>) -> String {
    match &id.unwrap().point_id_options {
        Some(PointIdOptions::Uuid(id)) => id.clone(),
        other => panic!("not a UUID: {other:?}"),
    }
}

fn named(point: &PointStruct) -> &HashMap<String, Vector> {
    match point.vectors.as_ref().and_then(|vectors| vectors.vectors_options.as_ref()) {
        Some(vectors::VectorsOptions::Vectors(named)) => &named.vectors,
        other => panic!("not named: {other:?}"),
    }
}

/// The requested fields.
pub(super) fn payload(point: &PointStruct, wanted: Option<&WithPayloadSelector>) -> HashMap<String, Value> {
    match wanted.and_then(|wanted| wanted.selector_options.as_ref()) {
        Some(with_payload_selector::SelectorOptions::Include(include)) => {
            let field = |name: &String| Some((name.clone(), point.payload.get(name)?.clone()));
            include.fields.iter().filter_map(field).collect()
        }
        Some(with_payload_selector::SelectorOptions::Enable(true)) => point.payload.clone(),
        other => panic!("{other:?}"),
    }
}

/// The requested vectors.
pub(super) fn read_back(point: &PointStruct, wanted: Option<&WithVectorsSelector>) -> Option<VectorsOutput> {
    let names = match wanted?.selector_options.as_ref()? {
        with_vectors_selector::SelectorOptions::Include(names) => &names.names,
        with_vectors_selector::SelectorOptions::Enable(false) => return None,
        with_vectors_selector::SelectorOptions::Enable(true) => panic!("vectors of any name"),
    };
    let output = |name: &String| {
        let vector = match named(point).get(name)?.vector.clone()? {
            vector::Vector::Dense(dense) => vector_output::Vector::Dense(dense),
            vector::Vector::Sparse(sparse) => vector_output::Vector::Sparse(sparse),
            other => panic!("{other:?}"),
        };
        Some((name.clone(), VectorOutput { vector: Some(vector), ..VectorOutput::default() }))
    };
    let vectors = names.iter().filter_map(output).collect();
    let named = vectors_output::VectorsOptions::Vectors(NamedVectorsOutput { vectors });
    Some(VectorsOutput { vectors_options: Some(named) })
}

fn with<'p>(points: &[&'p PointStruct], name: &str) -> Vec<(String, &'p vector::Vector)> {
    let vector = |point: &'p PointStruct| named(point).get(name)?.vector.as_ref();
    points.iter().filter_map(|point| Some((uuid(point.id.as_ref()), vector(point)?))).collect()
}

fn at(vector: &vector::Vector, place: u32) -> Option<f32> {
    let vector::Vector::Sparse(sparse) = vector else { return None };
    sparse.indices.iter().position(|index| *index == place).map(|at| sparse.values[at])
}
