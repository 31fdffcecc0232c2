/** Thrown if a newer Ganglion wrote the database. */
export class DatabaseTooNew extends Error {
  constructor(name: string, unknown: readonly string[]) {
    super(
      `${name} was written by a newer version of Ganglion (unknown migrations: ${unknown.join(', ')}). ` +
        'Run that version, or restore a backup made by this one.',
    )
  }
}

/** Thrown if the database is empty, and the command must not create its content. */
export class DatabaseEmpty extends Error {
  constructor(name: string) {
    super(`${name} holds no Ganglion: start the server with these settings first, or name the database that it uses.`)
  }
}

/** Thrown if an older Ganglion wrote the database, and the command must not migrate it. */
export class DatabaseTooOld extends Error {
  constructor(name: string, missing: readonly string[]) {
    super(
      `This data directory is older: ${name} was written by an older version of Ganglion (missing migrations: ${missing.join(', ')}). ` +
        'Nothing was changed. Use the older version, or start the server or run "ganglion migrate": an older version cannot open it afterwards.',
    )
  }
}

/** Thrown if the migration of an older database failed. The database is unchanged. */
export class MigrationFailed extends Error {
  /**
   * Creates the error. @param name of the file or the database @param copy sentence with the location of a copy, or
   * empty
   */
  constructor(name: string, copy: string, cause: unknown) {
    super([`${name} could not be migrated, and is unchanged: ${reasonOf(cause)}`, copy].join('\n').trim(), { cause })
  }
}

/** Thrown if a decided erasure has not ended. */
export class ErasureUnfinished extends Error {
  constructor() {
    super('An erasure is under way or was cut off. Wait for it, or run "ganglion erase --resume".')
  }
}

/** Thrown if a restore into the database has begun and not ended. */
export class RestoreUnfinished extends Error {
  constructor() {
    super(
      'A restore into the database is under way or was cut off. Wait for it, or run "ganglion restore" again with the same backup and settings.',
    )
  }
}

/** Thrown if the database cannot be reached. Nothing was executed. */
export class DatabaseUnreachable extends Error {
  constructor(cause: unknown) {
    super(`The database cannot be reached: ${reasonOf(cause)}`, { cause })
  }
}

/** Returns why something cannot be reached. A host with several addresses fails with an error for each; `fetch` has the reason in its cause. */
export function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join('; ')
  if (cause instanceof TypeError && cause.cause !== undefined) return reasonOf(cause.cause)
  return cause instanceof Error ? cause.message : String(cause)
}

/** Thrown if the connection broke during a statement, which may or may not have been executed. */
export class ConnectionLost extends DatabaseUnreachable {}
