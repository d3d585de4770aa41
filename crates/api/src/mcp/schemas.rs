//! JSON Schemas of the results of the tools.

use serde_json::{Value, json};

/// An object with these properties, of which some are required.
pub(super) fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// Of `search_docs`.
pub(super) fn passages() -> Value {
    let passage = object(
        json!({
            "chunk_id": { "type": "string", "description": "ID of the passage." },
            "document_id": { "type": "string", "description": "ID of the document." },
            "title": { "type": "string", "description": "Title of the document." },
            "version": { "type": "integer", "description": "Version of the document, if it is not the first." },
            "page_start": { "type": "integer", "description": "First page, counted from 1." },
            "page_end": { "type": "integer", "description": "Last page." },
            "label": { "type": "string", "description": "What the first page is in a file that is not a PDF." },
            "recognized": { "type": "boolean", "description": "Whether text of it was recognised on an image." },
            "score": { "type": "number", "description": "Relevance; comparable within one result only." },
            "text": { "type": "string", "description": "Text of the passage." },
        }),
        &["chunk_id", "document_id", "title", "page_start", "page_end", "score", "text"],
    );
    let correction = object(
        json!({
            "written": { "type": "string", "description": "The word of the query." },
            "meant": { "type": "string", "description": "The word that was searched for." },
        }),
        &["written", "meant"],
    );
    object(json!({ "results": list(passage), "corrections": list(correction) }), &["results"])
}

/// Of `list_documents`.
pub(super) fn documents() -> Value {
    let document = object(
        json!({
            "id": { "type": "string", "description": "ID of the document." },
            "title": { "type": "string", "description": "Title of the document." },
            "status": { "type": "string", "enum": ["pending", "ingested", "failed"] },
            "vector_doc_id": { "type": ["string", "null"], "description": "Equal to id once the document is ingested." },
        }),
        &["id", "title", "status", "vector_doc_id"],
    );
    let cursor =
        json!({ "type": ["string", "null"], "description": "Cursor of the next page, if there is one." });
    object(json!({ "documents": list(document), "next_cursor": cursor }), &["documents", "next_cursor"])
}

/// Of `get_document_page`.
pub(super) fn page() -> Value {
    object(
        json!({
            "document_id": { "type": "string", "description": "ID of the document." },
            "title": { "type": "string", "description": "Title of the document." },
            "page": { "type": "integer", "description": "Number of the page, counted from 1." },
            "pages": { "type": "integer", "description": "Number of pages of the document." },
            "text": { "type": "string", "description": "Text of the page, or a part of it." },
            "label": { "type": "string", "description": "What the page is in a file that is not a PDF." },
            "next_offset": { "type": "integer", "description": "Offset of the next part, if there is one." },
        }),
        &["document_id", "title", "page", "pages", "text"],
    )
}

/// Of `search`.
pub(super) fn results() -> Value {
    let result = object(
        json!({
            "id": { "type": "string", "description": "The argument of fetch." },
            "title": { "type": "string", "description": "Title of the document." },
            "url": { "type": "string", "description": "The document, for people." },
        }),
        &["id", "title", "url"],
    );
    object(json!({ "results": list(result) }), &["results"])
}

/// Of `fetch`.
pub(super) fn fetched() -> Value {
    let metadata = object(
        json!({
            "document_id": { "type": "string", "description": "ID of the document." },
            "page": { "type": "integer", "description": "First page of the text, counted from 1." },
            "pages": { "type": "integer", "description": "Number of pages of the document." },
        }),
        &["document_id", "page", "pages"],
    );
    object(
        json!({
            "id": { "type": "string", "description": "The ID that was fetched." },
            "title": { "type": "string", "description": "Title of the document." },
            "text": { "type": "string", "description": "Text of the pages." },
            "url": { "type": "string", "description": "The document, for people." },
            "metadata": metadata,
        }),
        &["id", "title", "text", "url", "metadata"],
    )
}
