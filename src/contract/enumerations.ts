/** Enumerations for threads: without schemas, so that the threads do not load zod. */

export const edgeTypes = ['cites', 'is-a', 'part-of', 'contradicts', 'supersedes', 'example-of', 'caused-by'] as const

/** Kinds of search results: Neurons (`wiki`), and texts of uploaded Sources. */
export const documentKinds = ['source', 'wiki'] as const
export type DocumentKind = (typeof documentKinds)[number]
