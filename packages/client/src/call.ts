/** Data of a response body, with the response itself for its status and headers. */
export type Answered<T> = { data: T; response: Response }

/** A pending request. It is a promise of the data; `withResponse()` also gives the response. */
export class Call<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Call'
  readonly #answered: Promise<Answered<T>>

  constructor(answered: Promise<Answered<T>>) {
    this.#answered = answered
  }

  withResponse(): Promise<Answered<T>> {
    return this.#answered
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  then<Done = T, Failed = never>(
    onDone?: ((data: T) => Done | PromiseLike<Done>) | null,
    onFailed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    return this.#answered.then(({ data }) => data).then(onDone, onFailed)
  }

  catch<Failed = never>(onFailed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null): Promise<T | Failed> {
    return this.then(undefined, onFailed)
  }

  finally(onEnd?: (() => void) | null): Promise<T> {
    return this.then().finally(onEnd)
  }
}

/** A list. It is a promise of its first page; `for await` gives the items of all pages. */
export class List<Page extends object, Item> extends Call<Page> implements AsyncIterable<Item> {
  readonly #read: (page: { cursor?: string }) => Promise<Answered<Page>>
  readonly #itemsOf: (page: Page) => readonly Item[]

  constructor(read: (page: { cursor?: string }) => Promise<Answered<Page>>, itemsOf: (page: Page) => readonly Item[]) {
    super(read({}))
    this.#read = read
    this.#itemsOf = itemsOf
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    let page = (await this.withResponse()).data
    for (;;) {
      yield* this.#itemsOf(page)
      const cursor = 'nextCursor' in page ? page.nextCursor : undefined
      if (typeof cursor !== 'string') return
      page = (await this.#read({ cursor })).data
    }
  }
}
