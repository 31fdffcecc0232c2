/** Enumerations that threads need: without schemas, so that these threads do not load zod. */

export const edgeTypes = ['cites', 'is-a', 'part-of', 'contradicts', 'supersedes', 'example-of', 'caused-by'] as const
export type EdgeType = (typeof edgeTypes)[number]

/** What a search finds: a Neuron, or the text of an uploaded Source. */
export const documentKinds = ['source', 'wiki'] as const
export type DocumentKind = (typeof documentKinds)[number]
