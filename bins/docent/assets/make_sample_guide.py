#!/usr/bin/env python3
"""Builds sample-guide.pdf, the document that `docent dev` ingests on its first run.

Needs the package reportlab. The result is committed, so that building Docent needs neither.
"""
from pathlib import Path

from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import ListFlowable, PageBreak, Paragraph, SimpleDocTemplate, Spacer

BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=9.5, leading=13.5, spaceAfter=6)
HEAD = ParagraphStyle("head", fontName="Helvetica-Bold", fontSize=15, leading=19, spaceAfter=8)
SUB = ParagraphStyle("sub", parent=HEAD, fontSize=11, leading=14, spaceBefore=6, spaceAfter=4)

PAGES = [
    [
        (HEAD, "The Docent Guide"),
        (BODY, "Docent answers questions about documents. You upload PDF files, Docent reads them in the "
               "background, and an agent answers what you ask, naming the document and the page each "
               "statement comes from."),
        (BODY, "This guide is also Docent's first document: when <i>docent dev</i> starts for the first time, "
               "it ingests these pages and asks itself a question about them. If you see an answer with "
               "a page number, everything works."),
        (SUB, "What you need"),
        (BODY, "In the development profile Docent is one program and nothing else. It keeps its records, its "
               "files and its search index in a single data folder, which is called docent-data unless you "
               "choose another one. It needs no network and downloads no model."),
        (BODY, "In production the same program runs on PostgreSQL, Redis, Qdrant and an object store, with as "
               "many replicas as you like."),
        (SUB, "Where to look"),
        [
            "Page 2 tells how documents are uploaded and read.",
            "Page 3 tells how questions are asked and answered.",
            "Page 4 is about accounts, tokens and limits.",
            "Page 5 is for those who operate Docent.",
        ],
    ],
    [
        (HEAD, "Uploading documents"),
        (BODY, "A document is uploaded as a multipart form with one part called file. The answer comes at "
               "once, with the status pending: reading takes place in the background. Ask for the document "
               "again until its status is ingested or failed."),
        (BODY, "A file may have at most 50 MiB, unless the operator has set another limit. Only PDF files are "
               "accepted."),
        (SUB, "What happens to a file"),
        (BODY, "Each file is read page by page in a separate process with limits on memory and time, so that "
               "a damaged or hostile file can cost no more than its own ingestion. The text is then cut into "
               "chunks of about 512 tokens, each of which knows the pages it came from."),
        (BODY, "An accepted upload is never forgotten. If the server stops in the middle of an ingestion, the "
               "work is taken up again when it is back, and no chunk is stored twice."),
        (SUB, "When a document fails"),
        (BODY, "A scan without any text fails with the reason \"no extractable text\". A file that is locked "
               "with a password fails with the reason that it needs one. The record is kept, together with the "
               "reason, so that nobody has to guess."),
    ],
    [
        (HEAD, "Asking questions"),
        (BODY, "Questions go to the agent called chat. Its answer is streamed word by word as server-sent "
               "events, so that people can begin to read while the rest is still being written."),
        (BODY, "The agent decides whether it has to search. It has one tool, search_docs, which finds the five "
               "chunks that fit a query best. It may search several times for one answer, but after ten rounds "
               "it must stop."),
        (SUB, "The built-in answerer"),
        (BODY, "Without a language model Docent answers with quotations: it picks the two to four sentences "
               "that fit the question best and gives each one with its document and page. When nothing fits, "
               "it says that the documents do not tell, rather than making something up."),
        (BODY, "To get answers in whole sentences of their own, connect any language model that speaks the "
               "chat-completions protocol."),
        (SUB, "Sources"),
        (BODY, "A request that sets include_sources to true also gets the passages behind the answer: document, "
               "title, pages, score and text."),
    ],
    [
        (HEAD, "Accounts, tokens and limits"),
        (BODY, "Every person has an account with an e-mail address and a password. Accounts are created on the "
               "command line by somebody who may use the server, never by strangers over the network."),
        (BODY, "Logging in gives two tokens. The access token goes with every request and lasts 15 minutes. "
               "The refresh token lasts 30 days and buys the next pair of tokens; it changes with every use."),
        (BODY, "A refresh token that is used again after it has been replaced counts as stolen, and the whole "
               "login ends. Logging out revokes the refresh token at once."),
        (SUB, "Limits"),
        (BODY, "Each client address may make 300 requests in 60 seconds; after that the server answers with "
               "status 429 and tells when to come back. After ten failed logins for the same account the server "
               "refuses further tries for 15 minutes."),
    ],
    [
        (HEAD, "For operators"),
        (BODY, "Settings are environment variables that begin with DOCENT_. A variable that Docent does not "
               "know is reported with the nearest name it does know, and a value that cannot be read stops the "
               "start with an explanation."),
        (BODY, "The path /health/live answers as long as the process lives. The path /health/ready says which "
               "parts can be reached: it gives status 503 only when the database is down, and calls the service "
               "degraded when another part is."),
        (SUB, "Stopping and restarting"),
        (BODY, "Press Ctrl-C, or send SIGTERM, to stop. Running answers get a little time to end, and "
               "unfinished ingestions go back to the queue. A process that is killed without warning loses "
               "nothing either: its work is found in the ledger at the next start."),
        (SUB, "The admin panel"),
        (BODY, "Staff find the panel at /admin. It shows which documents are waiting, which have failed and why, "
               "and how the parts of the service are doing."),
    ],
]


def flowables():
    for number, page in enumerate(PAGES):
        if number:
            yield PageBreak()
        for item in page:
            if isinstance(item, list):
                yield ListFlowable(
                    [Paragraph(text, BODY) for text in item], bulletType="bullet", leftIndent=12, bulletFontSize=6
                )
            else:
                style, text = item
                yield Paragraph(text, style)
        yield Spacer(1, 1)


def footer(canvas, document):
    canvas.setFont("Helvetica", 8)
    canvas.drawCentredString(A5[0] / 2, 9 * mm, str(document.page))


def main():
    target = Path(__file__).with_name("sample-guide.pdf")
    document = SimpleDocTemplate(
        str(target), pagesize=A5, title="The Docent Guide", author="Docent", invariant=1,
        leftMargin=18 * mm, rightMargin=18 * mm, topMargin=16 * mm, bottomMargin=16 * mm,
    )
    document.build(list(flowables()), onFirstPage=footer, onLaterPages=footer)
    print(target.name, target.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
