/** Version of the projection. Raise it whenever the tables or their derived content change: an older projection is dropped and rebuilt. */
export const projectionVersion = 38

export const projectionTables = [
  'meta',
  'commits',
  'replaced_commits',
  'files',
  'neurons',
  'versions',
  'approvals',
  'unapproved',
  'contested',
  'names',
  'attachments',
  'tags',
  'links',
  'page_sources',
  'candidates',
  'candidate_tags',
] as const

export const projectionSchema = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;

  -- main's first-parent line, oldest first
  CREATE TABLE commits (position INTEGER PRIMARY KEY, oid TEXT NOT NULL UNIQUE, at TEXT NOT NULL) STRICT;

  -- commits that an erasure has replaced, with those in their place
  CREATE TABLE replaced_commits (oid TEXT PRIMARY KEY, now TEXT NOT NULL) WITHOUT ROWID, STRICT;

  -- every file at the head of main; seq_id where it is a Neuron
  CREATE TABLE files (
    path TEXT PRIMARY KEY, path_key TEXT NOT NULL, mode TEXT NOT NULL, blob TEXT NOT NULL, seq_id TEXT
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX files_by_seq_id ON files (seq_id);

  -- tags: of the front matter, and of the text where kb.yaml says that they count; of a page that ingest made: source, the last edition of
  -- its Source that it names, said, a digest of its text, and renewed, the position of the commit where that took the place of an
  -- earlier one and changed the text
  CREATE TABLE neurons (
    seq_id TEXT PRIMARY KEY, document_id TEXT, path TEXT NOT NULL, blob TEXT NOT NULL, title TEXT NOT NULL,
    candidate_id TEXT, version INTEGER NOT NULL, position INTEGER NOT NULL, created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL, own_tags TEXT NOT NULL, inline_tags TEXT NOT NULL, tags TEXT NOT NULL, audience TEXT,
    partial INTEGER NOT NULL, verified TEXT, owner TEXT, source TEXT, said TEXT, renewed INTEGER
  ) WITHOUT ROWID, STRICT;

  -- every version that main ever had of a Neuron; a removal has no blob, and its candidate stands in the commit's message
  CREATE TABLE versions (
    seq_id TEXT NOT NULL, version INTEGER NOT NULL, number INTEGER NOT NULL, position INTEGER NOT NULL,
    path TEXT NOT NULL, blob TEXT, candidate_id TEXT, PRIMARY KEY (seq_id, version)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX versions_by_path ON versions (path);

  -- the first version that carries a candidate's back-pointer is its approval
  CREATE TABLE approvals (
    candidate_id TEXT PRIMARY KEY, seq_id TEXT NOT NULL, document_id TEXT, position INTEGER NOT NULL
  ) WITHOUT ROWID, STRICT;

  -- Neurons whose last version, or removal, was brought by no candidate
  CREATE TABLE unapproved (seq_id TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;

  -- seqIds that several files had at once, at any commit: to look for such a file among all takes as long as main is large
  CREATE TABLE contested (seq_id TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;

  -- since: position of the commit that gave the name; yields: to those that had it before
  CREATE TABLE names (
    key TEXT NOT NULL, seq_id TEXT NOT NULL, kind TEXT NOT NULL, exact TEXT NOT NULL,
    since INTEGER NOT NULL, yields INTEGER NOT NULL, PRIMARY KEY (seq_id, key, kind, exact)
  ) WITHOUT ROWID, STRICT;

  -- the names that links give to files that are no Neurons
  CREATE TABLE attachments (key TEXT NOT NULL, path TEXT NOT NULL, PRIMARY KEY (key, path)) WITHOUT ROWID, STRICT;

  CREATE TABLE tags (seq_id TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (seq_id, key)) WITHOUT ROWID, STRICT;

  -- links as written, not as they resolve, which changes with every name; no line: of the front matter
  CREATE TABLE links (
    seq_id TEXT NOT NULL, ordinal INTEGER NOT NULL, form TEXT NOT NULL, type TEXT NOT NULL, kb TEXT, target TEXT NOT NULL,
    key TEXT NOT NULL, bare_key TEXT, file_key TEXT, embed INTEGER NOT NULL, line INTEGER, PRIMARY KEY (seq_id, ordinal)
  ) WITHOUT ROWID, STRICT;

  -- the Sources that a page names; of one that ingest made, all that it ever named
  CREATE TABLE page_sources (source TEXT NOT NULL, seq_id TEXT NOT NULL, PRIMARY KEY (source, seq_id)) WITHOUT ROWID, STRICT;
  CREATE INDEX page_sources_by_page ON page_sources (seq_id);

  -- sender: a key or a person, or of a page that ingest made, the edition of its Source; end_user: on whose behalf, as JSON
  CREATE TABLE candidates (
    id TEXT PRIMARY KEY, blob TEXT NOT NULL, status TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL,
    connector TEXT NOT NULL, confidence REAL, impact INTEGER, zone TEXT, red INTEGER NOT NULL, target TEXT,
    removes INTEGER NOT NULL, reverts INTEGER NOT NULL, warnings TEXT NOT NULL, created_at TEXT NOT NULL, created_by TEXT NOT NULL, sender TEXT, end_user TEXT,
    revision INTEGER NOT NULL, dismissal TEXT, asked TEXT, assignee TEXT, unfinished INTEGER NOT NULL,
    origin TEXT, fingerprint TEXT, model TEXT, reason TEXT NOT NULL, tags TEXT NOT NULL, tests INTEGER NOT NULL,
    title_key TEXT NOT NULL, text_key TEXT NOT NULL, word_row INTEGER NOT NULL, path_key TEXT, authors TEXT NOT NULL, voters TEXT
  ) WITHOUT ROWID, STRICT;

  CREATE TABLE candidate_tags (id TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (id, key)) WITHOUT ROWID, STRICT;

  -- the words of candidates, which the queue is filtered by; a text that changes gets a new row, and the old one belongs to none
  CREATE TABLE candidate_rows (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, text_key TEXT NOT NULL) STRICT;
  CREATE VIRTUAL TABLE candidate_words USING fts5(
    words, content = '', detail = none, columnsize = 0, tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
  );
`

export type Index = {
  name: string
  sql: string
  /**
   * True if its keys come in random order: each batch of an import would rewrite most of its pages. A first import needs none of these
   * indexes.
   */
  isScattered?: true
}

/**
 * Indexes that are not needed while the empty tables of main, or of candidates, are filled. They are created after the rows, by sorting
 * instead of inserting all over the file.
 */
export const lateIndexes: Readonly<Record<'main' | 'queue', readonly Index[]>> = {
  main: [
    { name: 'files_by_key', sql: 'ON files (path_key)' },
    { name: 'pages_without_seq_id', sql: `ON files (path) WHERE seq_id IS NULL AND path GLOB 'neurons/*.md'` },
    { name: 'neurons_by_document', sql: 'ON neurons (document_id)' },
    { name: 'neurons_renewed', sql: 'ON neurons (seq_id) WHERE renewed IS NOT NULL' },
    { name: 'neurons_by_update', sql: 'ON neurons (updated_at, seq_id)' },
    { name: 'versions_by_number', sql: 'ON versions (number)' },
    { name: 'versions_by_position', sql: 'ON versions (position)' },
    { name: 'approvals_by_position', sql: 'ON approvals (position)' },
    { name: 'approvals_by_document', sql: 'ON approvals (document_id) WHERE document_id IS NOT NULL' },
    { name: 'names_by_key', sql: 'ON names (key, seq_id, kind, exact, since, yields)', isScattered: true },
    { name: 'names_to_find', sql: `ON names (key) WHERE kind IN ('title', 'alias')`, isScattered: true },
    { name: 'tags_by_key', sql: 'ON tags (key)', isScattered: true },
    { name: 'links_by_key', sql: 'ON links (key)', isScattered: true },
    { name: 'links_by_file_key', sql: 'ON links (file_key) WHERE file_key IS NOT NULL', isScattered: true },
    { name: 'links_by_bare_key', sql: 'ON links (bare_key) WHERE bare_key IS NOT NULL', isScattered: true },
  ],
  queue: [
    { name: 'candidates_by_target', sql: `ON candidates (target) WHERE status = 'pending'` },
    { name: 'candidates_by_title', sql: `ON candidates (title_key) WHERE status = 'pending'`, isScattered: true },
    { name: 'candidates_by_text', sql: `ON candidates (text_key) WHERE status = 'pending'`, isScattered: true },
    // Covers all filters of the queue.
    {
      name: 'candidates_in_order',
      sql: 'ON candidates (status, red DESC, impact DESC, id, zone, kind, connector, assignee, word_row)',
    },
    { name: 'candidates_by_zone', sql: 'ON candidates (status, zone, kind, connector, assignee, word_row)' },
    { name: 'candidates_by_connector', sql: 'ON candidates (status, connector)' },
    { name: 'candidates_by_origin', sql: 'ON candidates (connector, origin) WHERE origin IS NOT NULL' },
    {
      name: 'candidates_by_fingerprint',
      sql: 'ON candidates (connector, fingerprint) WHERE fingerprint IS NOT NULL',
      isScattered: true,
    },
    { name: 'candidates_by_model', sql: 'ON candidates (model) WHERE model IS NOT NULL' },
    { name: 'candidates_by_end_user', sql: `ON candidates (end_user ->> 'id') WHERE end_user IS NOT NULL` },
    { name: 'candidates_by_sender', sql: 'ON candidates (sender, id) WHERE sender IS NOT NULL' },
    { name: 'candidates_voted_on', sql: `ON candidates (id) WHERE voters IS NOT NULL AND status = 'pending'` },
    { name: 'candidate_tags_by_key', sql: 'ON candidate_tags (key)', isScattered: true },
  ],
}
