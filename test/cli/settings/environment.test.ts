import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { EnvironmentError, readEnvironment } from '../../../src/cli/settings/environment.ts'
import { addSettingsOfFiles } from '../../../src/cli/settings/setting-files.ts'
import { tempDir } from '../../support/temp.ts'

test('an empty environment has a default for everything', () => {
  const defaults = {
    dataDir: resolve('data'),
    host: '127.0.0.1',
    port: 4870,
    node: undefined,
    drain: 0,
    publicUrl: undefined,
    trustedProxies: ['loopback'],
    logLevel: 'info',
    cacheBytes: 50 * 1024 ** 3,
    bucket: undefined,
    rateReads: 600,
    rateWrites: 120,
    rateChats: 20,
    ingestConcurrency: 2,
    retention: {},
    webhookPrivate: false,
    languageModel: undefined,
  }
  expect(readEnvironment({})).toEqual(defaults)
  expect(readEnvironment({ GANGLION_PORT: '', GANGLION_PUBLIC_URL: '', GANGLION_PRT: '', PATH: '/bin' })).toEqual(
    defaults,
  )
})

const singleSignOn = {
  GANGLION_OIDC_ISSUER: 'https://id.example.org/realms/main',
  GANGLION_OIDC_CLIENT_ID: 'ganglion',
  GANGLION_OIDC_CLIENT_SECRET: 'hunter2',
  GANGLION_OIDC_ROLES: 'ganglion-admins=admin, a=b=curator,*=reader',
}

test('every setting can be set', () => {
  expect(
    readEnvironment({
      GANGLION_DATA: '/srv/ganglion',
      GANGLION_HOST: '::',
      GANGLION_PORT: '0',
      GANGLION_NODE: 'node-1.example',
      GANGLION_DRAIN: '20',
      GANGLION_PUBLIC_URL: 'https://kb.example.org/base//',
      GANGLION_TRUSTED_PROXIES: 'loopback, 10.0.0.0/8,2001:db8::1',
      GANGLION_LOG_LEVEL: 'silent',
      GANGLION_BLOBS: 's3://sources/acme/prod/?endpoint=https://s3.example.org/&region=eu-central-1',
      GANGLION_DATABASE: 'postgres://db.example.org/ganglion',
      GANGLION_CACHE_GB: '7',
      GANGLION_OBJECTS: 's3://shared/?endpoint=https://s3.example.org/&region=eu-central-1',
      AWS_ACCESS_KEY_ID: 'AKID',
      AWS_SECRET_ACCESS_KEY: 'secret',
      GANGLION_RATE_READS: '1',
      GANGLION_RATE_WRITES: '1000000',
      GANGLION_RATE_CHATS: '5',
      GANGLION_INGEST_CONCURRENCY: '4',
      GANGLION_KEEP_EVENTS_DAYS: '3',
      GANGLION_KEEP_AUDIT_DAYS: '800',
      GANGLION_KEEP_ARCHIVED_DAYS: '30',
      GANGLION_WEBHOOK_PRIVATE: 'true',
      GANGLION_LLM_URL: 'http://127.0.0.1:11434/v1/',
      GANGLION_LLM_MODEL: 'small',
      GANGLION_LLM_KEY: 'sk-1',
      GANGLION_LLM_CONTEXT: '8192',
      GANGLION_LLM_MAX_ANSWER: '700',
      GANGLION_LLM_TEMPERATURE: '0.2',
      GANGLION_LLM_TIMEOUT: '120',
      GANGLION_EMBEDDINGS_URL: 'http://127.0.0.1:8080/v1/',
      GANGLION_EMBEDDINGS_MODEL: 'embed',
      GANGLION_EMBEDDINGS_KEY: 'sk-3',
      GANGLION_EMBEDDINGS_TEXT_PREFIX: 'passage: ',
      GANGLION_EMBEDDINGS_QUESTION_PREFIX: 'query: ',
      GANGLION_TRANSCRIBER_URL: 'http://127.0.0.1:8000/v1/',
      GANGLION_TRANSCRIBER_MODEL: 'whisper',
      GANGLION_TRANSCRIBER_KEY: 'sk-2',
      ...singleSignOn,
      GANGLION_OIDC_GROUPS_CLAIM: 'roles',
      GANGLION_OIDC_SCOPE: 'openid email groups',
      GANGLION_OIDC_TENANT: 'acme',
      GANGLION_OIDC_TRUSTED_TENANT: '72F988BF-86F1-41AF-91AB-2D7CD011DB47',
    }),
  ).toEqual({
    dataDir: resolve('/srv/ganglion'),
    host: '::',
    port: 0,
    node: 'node-1.example',
    drain: 20,
    publicUrl: 'https://kb.example.org/base',
    trustedProxies: ['loopback', '10.0.0.0/8', '2001:db8::1'],
    logLevel: 'silent',
    cacheBytes: 7 * 1024 ** 3,
    database: 'postgres://db.example.org/ganglion',
    objects: {
      endpoint: 'https://s3.example.org',
      region: 'eu-central-1',
      bucket: 'shared',
      prefix: '',
      accessKeyId: 'AKID',
      secretAccessKey: 'secret',
      sessionToken: undefined,
    },
    bucket: {
      endpoint: 'https://s3.example.org',
      region: 'eu-central-1',
      bucket: 'sources',
      prefix: 'acme/prod/',
      accessKeyId: 'AKID',
      secretAccessKey: 'secret',
      sessionToken: undefined,
    },
    rateReads: 1,
    rateWrites: 1_000_000,
    rateChats: 5,
    ingestConcurrency: 4,
    retention: { events: 3, audit: 800, archived: 30 },
    webhookPrivate: true,
    languageModel: {
      ...{ url: 'http://127.0.0.1:11434/v1', model: 'small', apiKey: 'sk-1', timeoutMs: 120_000 },
      ...{ contextTokens: 8192, maxAnswerTokens: 700, temperature: 0.2 },
    },
    embeddings: {
      url: 'http://127.0.0.1:8080/v1',
      model: 'embed',
      apiKey: 'sk-3',
      textPrefix: 'passage: ',
      questionPrefix: 'query: ',
    },
    transcriber: { url: 'http://127.0.0.1:8000/v1', model: 'whisper', apiKey: 'sk-2' },
    identityProvider: {
      issuer: 'https://id.example.org/realms/main',
      clientId: 'ganglion',
      clientSecret: 'hunter2',
      roles: new Map([
        ['ganglion-admins', 'admin'],
        ['a=b', 'curator'],
        ['*', 'reader'],
      ]),
      groupsClaim: 'roles',
      scope: 'openid email groups',
      tenant: 'acme',
      trustedTenant: '72f988bf-86f1-41af-91ab-2d7cd011db47',
    },
  })
})

test('single sign-on needs an issuer, a client, its secret and roles', () => {
  expect(() => readEnvironment({ GANGLION_OIDC_SCOPE: 'openid' })).toThrow(
    /GANGLION_OIDC_ISSUER is missing.*\n.*CLIENT_ID is.*\n.*CLIENT_SECRET is.*\n.*ROLES is/,
  )
  expect(readEnvironment(singleSignOn).identityProvider).toMatchObject({
    groupsClaim: 'groups',
    scope: 'openid email profile',
    tenant: 'default',
  })
})

test.each(['', 'staff', 'staff=', '=admin', 'staff=owner', 'staff=admin,', 'cn=admins,ou=x=admin'])(
  '%j gives no roles',
  (roles) => {
    const read = () => readEnvironment({ ...singleSignOn, GANGLION_OIDC_ROLES: roles || ' ' })
    expect(read).toThrow('GANGLION_OIDC_ROLES must be like ganglion-admins=admin,staff=curator,*=reader')
  },
)

test('an issuer is asked over TLS, or on this machine', () => {
  const read = (issuer: string) => readEnvironment({ ...singleSignOn, GANGLION_OIDC_ISSUER: issuer })
  for (const issuer of ['http://127.0.0.1:3000', 'http://localhost', 'http://[::1]:1']) {
    expect(read(issuer).identityProvider?.issuer).toBe(issuer)
  }
  for (const issuer of ['http://id.example.org', 'http://127.0.0.1.example.org', 'ftp://id.example.org', 'id']) {
    expect(() => read(issuer)).toThrow('GANGLION_OIDC_ISSUER must be')
  }
})

test.each(['everybody', '10.0.0.0/33', 'proxy.example.org', '0.0.0.0/0', '1'])('%s is no proxy to trust', (proxies) => {
  expect(() => readEnvironment({ GANGLION_TRUSTED_PROXIES: proxies })).toThrow('GANGLION_TRUSTED_PROXIES must be')
})

test('what the client reads is no setting of a server, and no mistake', () => {
  expect(readEnvironment({ GANGLION_URL: 'https://kb.example.org', GANGLION_KEY: 'gng_x' })).toEqual(
    readEnvironment({}),
  )
})

test('all problems are told at once, unknown names with the nearest known one', () => {
  const read = () =>
    readEnvironment({
      GANGLION_PORT: '70000',
      GANGLION_PUBLIC_URL: 'ftp://example.org',
      GANGLION_LOG_LEVEL: 'loud',
      GANGLION_RATE_READ: '10',
      GANGLION_PROT: '80',
    })
  expect(read).toThrow(EnvironmentError)
  expect(read).toThrow(
    [
      'The environment is not valid:',
      '  GANGLION_PORT must be a whole number from 0 to 65535, not "70000"',
      '  GANGLION_PUBLIC_URL must be an http or https URL, not "ftp://example.org"',
      '  GANGLION_LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "loud"',
      '  GANGLION_RATE_READ is not a setting; did you mean GANGLION_RATE_READS?',
      '  GANGLION_PROT is not a setting; did you mean GANGLION_PORT?',
    ].join('\n'),
  )
})

test.each(['-1', '1e3', '0x10', ' 80', '80.5', '65536', '99999999999', 'http'])('%j is no port', (port) => {
  expect(() => readEnvironment({ GANGLION_PORT: port })).toThrow('GANGLION_PORT must be a whole number')
})

const model = { GANGLION_LLM_URL: 'http://127.0.0.1:11434/v1', GANGLION_LLM_MODEL: 'small' }

test('a language model needs an address and a name, but no key', () => {
  expect(readEnvironment(model).languageModel).toMatchObject({ model: 'small', apiKey: undefined })
  expect(() => readEnvironment({ GANGLION_LLM_URL: model.GANGLION_LLM_URL })).toThrow(
    'GANGLION_LLM_MODEL is missing: GANGLION_LLM_URL needs it',
  )
  expect(() => readEnvironment({ GANGLION_LLM_MODEL: 'small' })).toThrow('GANGLION_LLM_URL is missing')
  expect(() => readEnvironment({ GANGLION_LLM_KEY: 'sk-1' })).toThrow(/GANGLION_LLM_URL is.*\n.*GANGLION_LLM_MODEL is/)
})

test.each([
  ['GANGLION_EMBEDDINGS_KEY', 'hunter2 \n'],
  ['GANGLION_LLM_KEY', 'hunter2 \n'],
  ['GANGLION_LLM_URL', 'https://user:hunter2@example.org'],
  ['GANGLION_LLM_URL', 'ftp://user:hunter2@example.org'],
])('what is wrong with %s is told without its value', (name, value) => {
  const read = () => readEnvironment({ ...model, [name]: value })
  expect(read).toThrow(`${name} must be`)
  expect(read).not.toThrow('hunter2')
})

test('a bucket without an endpoint is of its region at Amazon', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'token' }
  expect(readEnvironment({ GANGLION_BLOBS: 's3://sources', ...keys }).bucket).toEqual({
    endpoint: 'https://s3.us-east-1.amazonaws.com',
    region: 'us-east-1',
    bucket: 'sources',
    prefix: '',
    accessKeyId: 'AKID',
    secretAccessKey: 'secret',
    sessionToken: 'token',
  })
})

test('a bucket may be told how to encrypt', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' }
  const url = 's3://sources?encryption=aws:kms&kms-key=arn:aws:kms:eu-central-1:1:key/2'
  const { bucket } = readEnvironment({ GANGLION_BLOBS: url, ...keys })
  expect(bucket).toMatchObject({ encryption: 'aws:kms', kmsKey: 'arn:aws:kms:eu-central-1:1:key/2' })
})

test.each([
  '/srv/blobs',
  'https://s3.example.org/sources',
  's3://Sources_1',
  's3://key:secret@sources',
  's3://sources?endpoint=s3.example.org',
  's3://sources?region=EU West',
  's3://sources?zone=eu',
  's3://sources?encryption=rot13',
  's3://sources?encryption=AES256&kms-key=key',
])('%s is no bucket', (url) => {
  const keys = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' }
  expect(() => readEnvironment({ GANGLION_BLOBS: url, ...keys })).toThrow('GANGLION_BLOBS must be like s3://')
})

test('a bucket that several machines share needs a database that they share', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' }
  expect(() => readEnvironment({ GANGLION_OBJECTS: 's3://shared', ...keys })).toThrow(
    'GANGLION_DATABASE is missing: GANGLION_OBJECTS needs it',
  )
})

test('what is wrong with the address of a database is told without the password in it', () => {
  const database = 'postgres://ganglion:hunter2@db.example.org/ganglion'
  expect(readEnvironment({ GANGLION_DATABASE: `${database}?sslmode=require` }).database).toBe(
    `${database}?sslmode=require`,
  )
  for (const wrong of [`${database}?sslmode=maybe`, database.replace('postgres', 'mysql')]) {
    expect(() => readEnvironment({ GANGLION_DATABASE: wrong })).toThrow(/^(?!.*hunter2).*\n {2}GANGLION_DATABASE /s)
  }
})

test('a bucket needs its keys', () => {
  expect(() => readEnvironment({ GANGLION_BLOBS: 's3://sources', AWS_ACCESS_KEY_ID: 'AKID' })).toThrow(
    'AWS_SECRET_ACCESS_KEY is missing: GANGLION_BLOBS needs it',
  )
})

test('mails need the address of their sender, and that of the server', () => {
  const mail = { GANGLION_SMTP_URL: 'smtp://kb:hunter2@smtp.example.org', GANGLION_MAIL_FROM: 'KB@Example.org' }
  const server = { GANGLION_PUBLIC_URL: 'https://kb.example.org' }
  expect(readEnvironment({ ...mail, ...server }).mail).toEqual({ url: mail.GANGLION_SMTP_URL, from: 'kb@example.org' })
  expect(() => readEnvironment(mail)).toThrow('GANGLION_PUBLIC_URL is missing: GANGLION_SMTP_URL needs it')
  const wrong = { ...server, GANGLION_SMTP_URL: 'http://kb:hunter2@x', GANGLION_MAIL_FROM: 'a\nBcc: b@example.org' }
  expect(() => readEnvironment(wrong)).toThrow(
    /GANGLION_SMTP_URL must be an smtp or smtps URL[\s\S]*GANGLION_MAIL_FROM must be/,
  )
  expect(() => readEnvironment(wrong)).not.toThrow('hunter2')
})

test('settings come from a file of them, and any from a file of its own', async () => {
  const folder = tempDir()
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const config = file(
    'ganglion.conf',
    '# Comment\nGANGLION_PORT=1234\nGANGLION_NODE="one"\nGANGLION_LLM_URL=http://127.0.0.1/v1\nGANGLION_LLM_MODEL=small\n',
  )
  const env = {
    GANGLION_NODE: 'two',
    GANGLION_LLM_KEY_FILE: file('key', 'sk-1\n'),
    GANGLION_FORGE_TOKEN_FILE: file('token', 'hush'),
    AWS_SHARED_CREDENTIALS_FILE: '/none',
  }
  const given: NodeJS.ProcessEnv = { ...env, GANGLION_CONFIG: config }
  addSettingsOfFiles(given)
  expect(given).toMatchObject({ GANGLION_FORGE_TOKEN: 'hush', AWS_SHARED_CREDENTIALS_FILE: '/none' })
  expect(readEnvironment(given)).toMatchObject({ port: 1234, node: 'two', languageModel: { apiKey: 'sk-1' } })

  const wrong = {
    GANGLION_CONFIG: file('wrong.conf', 'PATH=/bin\n'),
    GANGLION_LLM_KEY: 'sk-2',
    GANGLION_LLM_KEY_FILE: env.GANGLION_LLM_KEY_FILE,
    AWS_SECRET_ACCESS_KEY_FILE: file('empty', '\n'),
    GANGLION_DATABASE_FILE: join(folder, 'absent'),
  }
  const problems = (): unknown => addSettingsOfFiles({ ...wrong })
  expect(problems).toThrow(
    /PATH is not a setting\n.*GANGLION_LLM_KEY and GANGLION_LLM_KEY_FILE are both set\n.*empty must/,
  )
  expect(problems).toThrow(/GANGLION_DATABASE_FILE: .*absent cannot be read: ENOENT/)
})
