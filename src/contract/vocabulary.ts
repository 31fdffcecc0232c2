import { z } from 'zod'
import { edgeTypes } from './enumerations.ts'

/** The contract's enumerations and identifier shapes, shared by every layer. */

export const EdgeType = z.enum(edgeTypes).describe('Type of the link; `cites` for a plain link.')
export type EdgeType = z.infer<typeof EdgeType>

export const candidateKinds = [
  'chat-answer',
  'ingest-summary',
  'ingest-page-update',
  'cross-ref-suggestion',
  'contradiction-alert',
  'gap-detection',
  'user-correction',
  'reader-feedback',
  'external-feed',
  'chat',
  'lint-finding',
] as const
export const CandidateKind = z
  .enum(candidateKinds)
  .describe(
    'Why the candidate was made. `user-correction` and `ingest-page-update` change the Neuron that `metadata.targetNeuron` names. ' +
      'Every other kind proposes a new Neuron.',
  )
export type CandidateKind = z.infer<typeof CandidateKind>

export const candidateStatuses = ['pending', 'approved', 'dismissed'] as const
export const CandidateStatus = z.enum(candidateStatuses).describe('`pending` until a curator or the policy decides.')
export type CandidateStatus = z.infer<typeof CandidateStatus>

export const Role = z.enum(['reader', 'app', 'curator'])
export type Role = z.infer<typeof Role>

/** Role that an API key is made with. A key of the role `admin` is a curator's that may also manage keys and webhooks. */
export const KeyRole = z.enum([...Role.options, 'admin'])
export type KeyRole = z.infer<typeof KeyRole>

/** Delivery of a person's e-mail notices: each at once, all in one a day, or never. */
export const NoticeMode = z.enum(['at-once', 'digest', 'off'])
export type NoticeMode = z.infer<typeof NoticeMode>

/** Format of a webhook's messages: Ganglion's own, signed, or that of a chat product. */
export const WebhookFormat = z.enum(['ganglion', 'slack', 'teams'])
export type WebhookFormat = z.infer<typeof WebhookFormat>

/**
 * Content that a key without the role `curator` fetches with git: a repository of what it may see, or everything, with hidden pages and
 * candidates.
 */
export const GitFetch = z.enum(['shown', 'all'])
export type GitFetch = z.infer<typeof GitFetch>

/** Audience of a page or a caller. */
export const Audience = z.enum(['curator', 'tool', 'public', 'student'])
export type Audience = z.infer<typeof Audience>

/** Audience that a reader key may request besides its own; keys of other roles may request it anyway. */
export const KeyAudience = Audience.extract(['student'])
export type KeyAudience = z.infer<typeof KeyAudience>

/** Roles of a person in a tenant, lowest first. An admin is a curator who may also manage keys, people, webhooks and settings. */
export const PersonRole = z.enum(['reader', 'curator', 'admin'])
export type PersonRole = z.infer<typeof PersonRole>

/** True if a role is at least the required one. */
export function reaches(role: PersonRole, least: PersonRole): boolean {
  return PersonRole.options.indexOf(role) >= PersonRole.options.indexOf(least)
}

/** Schema of a seqId: `{prefix}_{8 digits}`, e.g. `handbook_00000042`. */
export const SeqId = z
  .string()
  .regex(/^[a-z0-9-]+_[0-9]{8}$/, 'must look like handbook_00000042')
  .describe('Stable name of the Neuron: the prefix of its knowledge base and 8 digits.')

export const Zone = z
  .enum(['green', 'yellow', 'red'])
  .describe(
    'How strict the review is. `green`: the policy may approve the candidate. `yellow`, `red`: a curator decides. Null: by `confidence`.',
  )
export type Zone = z.infer<typeof Zone>
