import { z } from 'zod'
import { Timestamp } from './identifiers.ts'
import { Audience, NoticeMode, Role } from './vocabulary.ts'

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
