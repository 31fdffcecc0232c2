/** The database was written by a newer Ganglion than this one. */
export class DatabaseTooNew extends Error {
  constructor(file: string, unknown: readonly string[]) {
    super(
      `${file} was written by a newer version of Ganglion (unknown migrations: ${unknown.join(', ')}). ` +
        'Run that version, or restore a backup made by this one.',
    )
    this.name = 'DatabaseTooNew'
  }
}

/** Another process holds the data directory's lock. */
export class DataDirectoryInUse extends Error {
  constructor(directory: string) {
    super(
      `The data directory ${directory} is in use by another Ganglion process. Stop it, or choose another directory.`,
    )
    this.name = 'DataDirectoryInUse'
  }
}

/** The slug is held by another knowledge base of the same tenant. */
export class SlugTaken extends Error {
  readonly slug: string

  constructor(slug: string) {
    super(`There is a knowledge base ${slug} already.`)
    this.name = 'SlugTaken'
    this.slug = slug
  }
}
