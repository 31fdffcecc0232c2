import { resolve } from 'node:path'
import { closest } from 'fastest-levenshtein'
import { z } from 'zod'
import { Email } from '../../contract/people.ts'
import type { EmbeddingEndpoint } from '../../models/embeddings.ts'
import type { LanguageModel, ModelLimits } from '../../models/language-model.ts'
import type { IdentityProviderOptions } from '../../people/identity-provider.ts'
import { problemOfAddress } from '../../state/database/engines/postgres-address.ts'
import { BucketUrl, GroupRoles, isPrivateOrEncrypted, ProxyList } from './variable-types.ts'

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** Settings of a server and of the commands beside it, see `docs/configuration.md`. */
export type Environment = ReturnType<typeof readEnvironment>

/** Thrown with all problems of the environment, one per line. */
export class EnvironmentError extends Error {
  constructor(problems: readonly string[]) {
    super(['The environment is not valid:', ...problems.map((problem) => `  ${problem}`)].join('\n'))
  }
}

/** Address of a PostgreSQL database, see {@link problemOfAddress}. */
const DatabaseAddress = z.string().transform((text, context) => {
  const problem = problemOfAddress(text)
  if (problem === undefined) return text
  context.addIssue(problem)
  return z.NEVER
})

export const Port = wholeNumber(0, 65_535)

/** Metadata of variables whose values no message may contain. */
const secret = { isSecret: true }

export const EnvironmentVariables = z.object({
  GANGLION_DATA: z.string().default('./data'),
  GANGLION_DATABASE: DatabaseAddress.optional().meta(secret),
  GANGLION_HOST: z.string().default('127.0.0.1'),
  GANGLION_PORT: Port.default(4870),
  GANGLION_NODE: z
    .string()
    .regex(/^[\w.-]{1,100}$/, { error: 'must be letters, digits, dots, hyphens and underscores, 100 at most' })
    .optional(),
  GANGLION_DRAIN: wholeNumber(0, 20).default(0),
  GANGLION_METRICS_KEY: z
    .string()
    .regex(/^[\w.~+/-]{16,512}=*$/, { error: 'must be 16 to 512 letters, digits and . _ ~ + / -' })
    .optional()
    .meta(secret),
  GANGLION_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  GANGLION_TRUSTED_PROXIES: ProxyList.default(['loopback']),
  GANGLION_BLOBS: BucketUrl.optional(),
  GANGLION_OBJECTS: BucketUrl.optional(),
  GANGLION_CACHE_GB: wholeNumber(1, 1_000_000).default(50),
  GANGLION_LOG_LEVEL: z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }).default('info'),
  GANGLION_RATE_READS: wholeNumber(1, 1_000_000).default(600),
  GANGLION_RATE_WRITES: wholeNumber(1, 1_000_000).default(120),
  GANGLION_RATE_CHATS: wholeNumber(1, 1_000_000).default(20),
  GANGLION_KEEP_EVENTS_DAYS: wholeNumber(1, 36_500).optional(),
  GANGLION_KEEP_AUDIT_DAYS: wholeNumber(1, 36_500).optional(),
  GANGLION_KEEP_ARCHIVED_DAYS: wholeNumber(1, 36_500).optional(),
  GANGLION_INGEST_CONCURRENCY: wholeNumber(1, 64).default(2),
  GANGLION_WEBHOOK_PRIVATE: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((text) => text === 'true')
    .default(false),
  GANGLION_SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'must be an smtp or smtps URL' })
    .optional()
    .meta(secret),
  GANGLION_MAIL_FROM: Email.optional(),
  GANGLION_LLM_URL: endpointUrl(),
  GANGLION_LLM_MODEL: z.string().optional(),
  GANGLION_LLM_KEY: endpointKey(),
  GANGLION_LLM_CONTEXT: wholeNumber(2_048, 10_000_000).optional(),
  GANGLION_LLM_MAX_ANSWER: wholeNumber(64, 1_000_000).optional(),
  GANGLION_LLM_TEMPERATURE: z.coerce.number({ error: 'must be 0 to 2' }).min(0).max(2).optional(),
  GANGLION_LLM_TIMEOUT: wholeNumber(1, 3_600).default(30),
  GANGLION_EMBEDDINGS_URL: endpointUrl(),
  GANGLION_EMBEDDINGS_MODEL: z.string().optional(),
  GANGLION_EMBEDDINGS_KEY: endpointKey(),
  GANGLION_EMBEDDINGS_TEXT_PREFIX: z.string().max(200, 'must have at most 200 characters').default(''),
  GANGLION_EMBEDDINGS_QUESTION_PREFIX: z.string().max(200, 'must have at most 200 characters').default(''),
  GANGLION_TRANSCRIBER_URL: endpointUrl(),
  GANGLION_TRANSCRIBER_MODEL: z.string().optional(),
  GANGLION_TRANSCRIBER_KEY: endpointKey(),
  GANGLION_OIDC_ISSUER: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .refine(isPrivateOrEncrypted, { error: 'must be an https URL, or of this machine' })
    .optional(),
  GANGLION_OIDC_CLIENT_ID: z.string().optional(),
  GANGLION_OIDC_CLIENT_SECRET: z.string().optional().meta(secret),
  GANGLION_OIDC_ROLES: GroupRoles.optional(),
  GANGLION_OIDC_GROUPS_CLAIM: z.string().default('groups'),
  GANGLION_OIDC_SCOPE: z.string().default('openid email profile'),
  GANGLION_OIDC_TENANT: z.string().default('default'),
  GANGLION_OIDC_TRUSTED_TENANT: z
    .guid({ error: 'must be the id of a tenant of Entra ID, a UUID' })
    .toLowerCase()
    .optional(),
})

/** Variables that are read elsewhere: the settings file, and the server, keys and knowledge base of commands and examples that use HTTP. */
const elsewhere: ReadonlySet<string> = new Set([
  ...['GANGLION_CONFIG', 'GANGLION_URL', 'GANGLION_KEY', 'GANGLION_CURATOR_KEY', 'GANGLION_KB'],
])

/** Prefix of variables with the secrets of links to forges. Operators choose the rest of the name. */
const forgePrefix = 'GANGLION_FORGE_'

const fields: Readonly<Record<string, z.ZodType>> = EnvironmentVariables.shape
const names = Object.keys(fields)

/** Suffixes of the variables that must be set if one with the same prefix is. */
const groups: Readonly<Record<string, readonly string[]>> = {
  GANGLION_LLM: ['URL', 'MODEL'],
  GANGLION_EMBEDDINGS: ['URL', 'MODEL'],
  GANGLION_TRANSCRIBER: ['URL', 'MODEL'],
  GANGLION_OIDC: ['ISSUER', 'CLIENT_ID', 'CLIENT_SECRET', 'ROLES'],
}

/**
 * Reads the `GANGLION_*` variables; an empty one counts as absent.
 * @throws {EnvironmentError}
 */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>) {
  const set = Object.entries(env).filter(([name, value]) => name.startsWith('GANGLION_') && value !== '')
  const unknown = set
    .filter(([name]) => !names.includes(name) && !elsewhere.has(name) && !name.startsWith(forgePrefix))
    .map(([name]) => `${name} is not a setting; did you mean ${closest(name, names)}?`)
  const missing = Object.entries(groups).flatMap(([prefix, required]) =>
    missingOfGroup(
      prefix,
      required,
      set.map(([name]) => name),
    ),
  )
  const { data, error } = EnvironmentVariables.safeParse(Object.fromEntries(set))
  const invalid = error?.issues.map((issue) => {
    const name = issue.path.join('.')
    return fields[name]?.meta()?.isSecret
      ? `${name} ${issue.message}`
      : `${name} ${issue.message}, not ${JSON.stringify(env[name])}`
  })
  const problems = [...(invalid ?? []), ...missing, ...missingOfOthers(env), ...unknown]
  if (data === undefined || problems.length > 0) throw new EnvironmentError(problems)
  const { GANGLION_SMTP_URL: url, GANGLION_MAIL_FROM: from } = data
  return {
    dataDir: resolve(data.GANGLION_DATA),
    database: data.GANGLION_DATABASE,
    host: data.GANGLION_HOST,
    port: data.GANGLION_PORT,
    node: data.GANGLION_NODE,
    drain: data.GANGLION_DRAIN,
    metricsKey: data.GANGLION_METRICS_KEY,
    publicUrl: data.GANGLION_PUBLIC_URL,
    trustedProxies: data.GANGLION_TRUSTED_PROXIES,
    logLevel: data.GANGLION_LOG_LEVEL,
    bucket: data.GANGLION_BLOBS && { ...data.GANGLION_BLOBS, ...credentialsOf(env) },
    objects: data.GANGLION_OBJECTS && { ...data.GANGLION_OBJECTS, ...credentialsOf(env) },
    cacheBytes: data.GANGLION_CACHE_GB * 1024 ** 3,
    rateReads: data.GANGLION_RATE_READS,
    rateWrites: data.GANGLION_RATE_WRITES,
    rateChats: data.GANGLION_RATE_CHATS,
    retention: {
      events: data.GANGLION_KEEP_EVENTS_DAYS,
      audit: data.GANGLION_KEEP_AUDIT_DAYS,
      archived: data.GANGLION_KEEP_ARCHIVED_DAYS,
    },
    ingestConcurrency: data.GANGLION_INGEST_CONCURRENCY,
    webhookPrivate: data.GANGLION_WEBHOOK_PRIVATE,
    mail: url === undefined || from === undefined ? undefined : { url, from },
    languageModel: chatModel(data),
    embeddings: embeddingEndpoint(data),
    transcriber: endpoint(
      data.GANGLION_TRANSCRIBER_URL,
      data.GANGLION_TRANSCRIBER_MODEL,
      data.GANGLION_TRANSCRIBER_KEY,
    ),
    identityProvider: identityProvider(data),
  }
}

function chatModel(
  data: z.output<typeof EnvironmentVariables>,
): (LanguageModel & ModelLimits & { timeoutMs: number }) | undefined {
  const model = endpoint(data.GANGLION_LLM_URL, data.GANGLION_LLM_MODEL, data.GANGLION_LLM_KEY)
  const { GANGLION_LLM_CONTEXT: contextTokens, GANGLION_LLM_MAX_ANSWER: maxAnswerTokens } = data
  const { GANGLION_LLM_TEMPERATURE: temperature, GANGLION_LLM_TIMEOUT: seconds } = data
  return model && { ...model, contextTokens, maxAnswerTokens, temperature, timeoutMs: seconds * 1_000 }
}

function embeddingEndpoint(data: z.output<typeof EnvironmentVariables>): EmbeddingEndpoint | undefined {
  const { GANGLION_EMBEDDINGS_TEXT_PREFIX: textPrefix, GANGLION_EMBEDDINGS_QUESTION_PREFIX: questionPrefix } = data
  const model = endpoint(data.GANGLION_EMBEDDINGS_URL, data.GANGLION_EMBEDDINGS_MODEL, data.GANGLION_EMBEDDINGS_KEY)
  return model && { ...model, textPrefix, questionPrefix }
}

function identityProvider(data: z.output<typeof EnvironmentVariables>): IdentityProviderOptions | undefined {
  const { GANGLION_OIDC_ISSUER: issuer, GANGLION_OIDC_CLIENT_ID: clientId } = data
  const { GANGLION_OIDC_CLIENT_SECRET: clientSecret, GANGLION_OIDC_ROLES: roles } = data
  if (issuer === undefined || clientId === undefined || clientSecret === undefined || roles === undefined) {
    return undefined
  }
  return {
    ...{ issuer, clientId, clientSecret, roles },
    groupsClaim: data.GANGLION_OIDC_GROUPS_CLAIM,
    scope: data.GANGLION_OIDC_SCOPE,
    tenant: data.GANGLION_OIDC_TENANT,
    trustedTenant: data.GANGLION_OIDC_TRUSTED_TENANT,
  }
}

function endpoint(url: string | undefined, model: string | undefined, apiKey: string | undefined) {
  return url === undefined || model === undefined ? undefined : { url, model, apiKey }
}

/** Returns a problem for each missing variable of a group in which another is set. */
function missingOfGroup(prefix: string, required: readonly string[], set: readonly string[]): string[] {
  const given = set.find((name) => name.startsWith(`${prefix}_`) && names.includes(name))
  if (given === undefined) return []
  return required
    .map((suffix) => `${prefix}_${suffix}`)
    .filter((name) => !set.includes(name))
    .map((name) => `${name} is missing: ${given} needs it`)
}

/** Returns the credentials from the variables that every client of S3 reads. */
function credentialsOf(env: Readonly<Record<string, string | undefined>>) {
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '', AWS_SESSION_TOKEN } = env
  return { accessKeyId, secretAccessKey, sessionToken: AWS_SESSION_TOKEN || undefined }
}

function missingOfOthers(env: Readonly<Record<string, string | undefined>>): string[] {
  const credentials = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']
  const needs = {
    ...{ GANGLION_BLOBS: credentials, GANGLION_OBJECTS: ['GANGLION_DATABASE', ...credentials] },
    ...{ GANGLION_SMTP_URL: ['GANGLION_MAIL_FROM', 'GANGLION_PUBLIC_URL'], GANGLION_MAIL_FROM: ['GANGLION_SMTP_URL'] },
  }
  return Object.entries(needs).flatMap(([given, needed]) =>
    needed.filter((name) => env[given] && !env[name]).map((name) => `${name} is missing: ${given} needs it`),
  )
}

function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^[0-9]{1,9}$/, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error })
}

function endpointUrl() {
  return z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .refine((url) => !URL.parse(url)?.username && !URL.parse(url)?.password, { error: 'must be without a password' })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .meta(secret)
}

function endpointKey() {
  return z
    .string()
    .regex(/^[\x21-\x7e]+$/, { error: 'must be visible ASCII characters' })
    .optional()
    .meta(secret)
}
