import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { EditRows } from './edit-rows.ts'

export type Unit = 'page' | 'chunk'

const units = ['page', 'chunk'] as const

/**
 * The FTS5 tables of the pages of one class, and of their chunks. FTS5 counts and ranks by all rows of a table, so what some
 * may not see stands in tables of its own.
 */
export class FtsTables {
  readonly #name: string
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  /** Makes the tables where they are not there. @param name of the class: letters and `_` */
  constructor(db: DatabaseSync, name: string) {
    this.#name = name
    this.#db = db
    for (const unit of units) {
      // Everything between spaces is a token: the text was analysed before. `contentless_delete` keeps no copy of the terms.
      db.exec(`
        CREATE VIRTUAL TABLE IF NOT EXISTS ${unit}_terms_${name} USING fts5(
          terms, content = '', contentless_delete = 1,
          tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
        );
        CREATE VIRTUAL TABLE IF NOT EXISTS ${unit}_vocabulary_${name} USING fts5vocab(${unit}_terms_${name}, row)`)
    }
  }

  /** The classes that a database has tables of. */
  static names(db: DatabaseSync): string[] {
    const rows = db.prepare(`SELECT substr(name, 12) AS name FROM sqlite_schema
      WHERE type = 'table' AND name GLOB 'page_terms_*' AND sql LIKE 'CREATE VIRTUAL TABLE%'`)
    return rows.all().map(({ name }) => String(name))
  }

  drop(): void {
    this.#statements.clear()
    for (const unit of units) {
      this.#db.exec(`DROP TABLE ${unit}_vocabulary_${this.#name}; DROP TABLE ${unit}_terms_${this.#name}`)
    }
  }

  add(unit: Unit, id: number, terms: string): void {
    this.#prepared(`INSERT INTO ${this.#terms(unit)} (rowid, terms) VALUES (?, ?)`).run(id, terms)
  }

  remove(unit: Unit, id: number): void {
    const statement = this.#prepared(`DELETE FROM ${this.#terms(unit)} WHERE rowid = ?`)
    // FTS5 marks deleted rows with ids beyond 2^53, which node refuses to return as numbers.
    statement.setReadBigInts(true)
    statement.run(id)
  }

  size(unit: Unit): number {
    return Number(this.#prepared(`SELECT count(*) AS count FROM ${this.#terms(unit)}`).get()?.count)
  }

  /** The ids of the rows that match, the best first. Read as they are asked for. */
  *ranked(unit: Unit, match: string): Generator<number> {
    const table = this.#terms(unit)
    // Not shared: another query may run before this one is read to its end.
    const rows = this.#db.prepare(`SELECT rowid FROM ${table} WHERE ${table} MATCH ? ORDER BY rank`).iterate(match)
    for (const { rowid } of rows) yield Number(rowid)
  }

  /** How many rows match; of those that are wanted, where not all are. */
  count(unit: Unit, match: string, isWanted?: (id: number) => boolean): number {
    const table = this.#terms(unit)
    if (isWanted === undefined) {
      const row = this.#prepared(`SELECT count(*) AS count FROM ${table} WHERE ${table} MATCH ?`).get(match)
      return Number(row?.count)
    }
    let count = 0
    for (const { rowid } of this.#prepared(`SELECT rowid FROM ${table} WHERE ${table} MATCH ?`).iterate(match)) {
      if (isWanted(Number(rowid))) count++
    }
    return count
  }

  /** In how many chunks a term is. */
  chunksWith(term: string): number {
    const row = this.#prepared(`SELECT doc FROM chunk_vocabulary_${this.#name} WHERE term = ?`).get(term)
    return Number(row?.doc ?? 0)
  }

  /** The terms that begin with a prefix, with the number of chunks that hold each. */
  termsWithPrefix(prefix: string): [term: string, chunkCount: number][] {
    const select = `SELECT term, doc FROM chunk_vocabulary_${this.#name} WHERE term >= ? AND term < ?`
    const rows = this.#prepared(select).all(prefix, `${prefix}\u{10ffff}`)
    return rows.map(({ term, doc }) => [String(term), Number(doc)])
  }

  /** The terms that a word becomes with at most so many edits; see `EditRows`. */
  termsWithin(word: string, maxEdits: number): string[] {
    const rows = new EditRows(word, maxEdits)
    const terms = this.#prepared(`SELECT term FROM chunk_vocabulary_${this.#name}`).all()
    return terms.map(({ term }) => String(term)).filter((term) => rows.takeAll(0, term) && rows.isWithin(term.length))
  }

  #terms(unit: Unit): string {
    return `${unit}_terms_${this.#name}`
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}
