import { z } from 'zod'
import { EdgeType } from '../../../contract/vocabulary.ts'

/** Reason why a document, or a part of it, was compiled without the language model. */
export const ModelGap = z.enum([
  'unreachable',
  'slow',
  'paused',
  'error',
  'refused',
  'invalid',
  'unsupported',
  'too-long',
])
export type ModelGap = z.infer<typeof ModelGap>

const DraftEdge = z.object({ type: EdgeType, target: z.string() })
export type DraftEdge = z.infer<typeof DraftEdge>

/** A sentence as plain text that the document fully supports. */
const Statement = z.object({ text: z.string(), isItem: z.boolean() })
export type Statement = z.infer<typeof Statement>

const DraftPage = z.object({
  title: z.string(),
  /** Indexes of the parts of the document that the page replaces, in order. */
  parts: z.array(z.int().nonnegative()).min(1),
  statements: z.array(Statement),
  tags: z.array(z.string()),
  edges: z.array(DraftEdge),
})
export type DraftPage = z.infer<typeof DraftPage>

/** Pages that a language model wrote about a document, without statements that the document does not support. */
export const Draft = z.object({
  title: z.string().exactOptional(),
  gist: z.array(z.string()),
  tags: z.array(z.string()),
  edges: z.array(DraftEdge),
  pages: z.array(DraftPage),
  /** Reason why some pages are not by the model. */
  gap: ModelGap.exactOptional(),
})
export type Draft = z.infer<typeof Draft>

/** Thrown if a language model returned nothing usable. The message is for operators. */
export class CompilerModelError extends Error {
  override readonly name = 'ModelError'
  readonly gap: ModelGap

  constructor(gap: ModelGap, message: string, options?: ErrorOptions) {
    super(message, options)
    this.gap = gap
  }
}
