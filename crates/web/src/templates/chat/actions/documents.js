
// What the user does with documents of the list, and their reports.

// Shows the ingestion report of a document: its failure, coverage and warnings.
async function loadReport(id, container) {
  const createLine = (text, style) => createElement("p", style ? { class: style } : {}, text);
  try {
    const { coverage, failure, warnings } = await (await callApi(`/documents/${id}/report`)).json();
    const lines = [];
    if (failure) {
      const [reason, advice] = failureTexts(failure);
      lines.push(createLine(t("failed-because", { reason }), "reason"), createLine(t("advice", { advice })));
    }
    if (coverage) lines.push(createLine(t("coverage", { pages: coverage.pages, read: coverage.pages_with_text })));
    for (const warning of warnings) lines.push(createLine(t("warning", { warning }), "warning"));
    container.replaceChildren(...(lines.length ? lines : [createLine(t("details-none"))]));
    return { failure, warnings };
  } catch (error) {
    container.replaceChildren(createLine(errorMessage(error), "reason"));
    return { failure: null, warnings: [] };
  }
}

// Why a document failed, and what to do. The API says it in English, sometimes in more detail than its code.
function failureTexts({ code, reason, advice }) {
  const texts = {
    not_a_pdf: [t("failure-not_a_pdf"), t("advice-not_a_pdf")],
    wrong_file_type: [t("failure-wrong_file_type"), t("advice-wrong_file_type")],
    password_required: [t("failure-password_required"), t("advice-password_required")],
    empty_file: [t("failure-empty_file"), t("advice-empty_file")],
    unreadable: [t("failure-unreadable"), t("advice-unreadable")],
    no_extractable_text: [t("failure-no_extractable_text"), t("advice-no_extractable_text")],
    unmapped_text: [t("failure-unmapped_text"), t("advice-unmapped_text")],
    recognition_failed: [t("failure-recognition_failed"), t("advice-recognition_failed")],
    too_large: [t("failure-too_large"), t("advice-too_large")],
    too_many_pages: [t("failure-too_many_pages"), t("advice-too_many_pages")],
    too_much_text: [t("failure-too_much_text"), t("advice-too_much_text")],
    too_many_chunks: [t("failure-too_many_chunks"), t("advice-too_many_chunks")],
    extraction_timeout: [t("failure-extraction_timeout"), t("advice-extraction_timeout")],
    extraction_memory: [t("failure-extraction_memory"), t("advice-extraction_memory")],
    extraction_crashed: [t("failure-extraction_crashed"), t("advice-extraction_crashed")],
    file_missing: [t("failure-file_missing"), t("advice-file_missing")],
    storage_failed: [t("failure-storage_failed"), t("advice-storage_failed")],
    embedding_failed: [t("failure-embedding_failed"), t("advice-embedding_failed")],
    indexing_failed: [t("failure-indexing_failed"), t("advice-indexing_failed")],
    interrupted: [t("failure-interrupted"), t("advice-interrupted")],
    internal: [t("failure-internal"), t("advice-internal")],
  };
  return (document.documentElement.lang !== "en" && texts[code]) || [reason, advice];
}

async function retryDocument(id) {
  const entry = chat.documentRows.get(id);
  try {
    await chat.updateStatus(await (await callApi(`/documents/${id}/retry`, { method: "POST" })).json());
    entry.details.querySelector("summary").focus({ preventScroll: true });
    chat.pollSoon();
  } catch (error) {
    const message = t("not-retried", { reason: errorMessage(error) });
    entry.report.replaceChildren(createElement("p", { class: "reason", role: "alert" }, message));
  }
}

async function deleteDocument(id, title) {
  const text = tNodes("document-delete-text", { title: createName(title) });
  if (!await confirmDeletion(t("document-delete"), text)) return;
  const entry = chat.documentRows.get(id);
  try {
    await callApi(`/documents/${id}`, { method: "DELETE" });
  } catch (error) {
    // 404: the document is already deleted.
    if (error.status !== 404) {
      const reason = t("not-deleted", { reason: errorMessage(error) });
      entry?.report.replaceChildren(createElement("p", { class: "reason", role: "alert" }, reason));
      return;
    }
  }
  chat.forgetDocument(id);
  announce(t("deleted", { title }));
  byId("documents-search").focus({ preventScroll: true });
}
