import { z } from 'zod'
import { Timestamp } from './identifiers.ts'
import { Audience, NoticeMode, Role } from './vocabulary.ts'

/** Normalizes an e-mail address, so that its spellings are equal. */
export function foldEmail(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

/** E-mail address. Parses to the normalized address, which identifies one person. */
export const Email = z
  .string()
  .max(1000)
  .transform(foldEmail)
  .pipe(
    z
      .string()
      .max(254, 'must be at most 254 characters')
      .regex(/^[^\s@<>"',;:\p{Cc}\p{Cf}\p{Cs}]+@[^\s@<>"',;:\p{Cc}\p{Cf}\p{Cs}]+$/u, 'must be an e-mail address'),
  )

/** Name of a person: one line without characters that could imitate another author in a commit. */
export const PersonName = z
  .string()
  .max(1000)
  .transform((text) =>
    text
      .normalize('NFC')
      .trim()
      .replace(/\p{Zs}+/gu, ' '),
  )
  .pipe(
    z
      .string()
      .regex(
        /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}<>\u202a-\u202e\u2066-\u2069]{1,100}$/u,
        'must be one line of 1 to 100 characters, without < and >',
      ),
  )

/** Normalizes a password: keyboards type the same character composed or decomposed. */
export function normalizePassword(text: string): string {
  return text.normalize('NFKC')
}

const minPassword = 12
const maxPassword = 200

export const NewPassword = z
  .string()
  .max(2000, `must be at most ${maxPassword} characters`)
  .transform(normalizePassword)
  .refine((text) => [...text].length >= minPassword, `must be at least ${minPassword} characters`)
  .refine((text) => [...text].length <= maxPassword, `must be at most ${maxPassword} characters`)
  .refine((text) => text.isWellFormed(), 'must be text')

export const Me = z
  .object({
    name: z.string().describe('Name of the API key or person.'),
    role: Role.describe('What the caller may do. An administrator has the role `curator`.'),
    audiences: z
      .array(Audience)
      .describe('Audiences that the caller may ask for. Asking for another is answered as `tool`.'),
    tenant: z.string().describe('Slug of the tenant.'),
    connectors: z.array(z.string()).describe('Connectors that the policy trusts this key to speak as.'),
    expiresAt: Timestamp.nullable().describe('Time when the key expires. Null if it does not, and for a person.'),
    notices: NoticeMode.describe('When the person gets e-mails. Absent for a key.').exactOptional(),
  })
  .meta({
    id: 'Me',
    description: 'The caller.',
    examples: [
      {
        name: 'Support desk',
        role: 'app',
        audiences: ['tool', 'public', 'student'],
        tenant: 'acme',
        connectors: [],
        expiresAt: null,
      },
    ],
  })
export type Me = z.infer<typeof Me>

export const MeChange = Me.pick({ notices: true })
  .required()
  .meta({ id: 'MeChange', description: 'What a person changes.', examples: [{ notices: 'digest' }] })
export type MeChange = z.infer<typeof MeChange>
