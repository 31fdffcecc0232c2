import { ApiKeys } from './accounts/api-keys.ts'
import { Audit } from './accounts/audit-store.ts'
import { OauthRecords } from './accounts/oauth-records.ts'
import { OneTimeLinks } from './accounts/one-time-links.ts'
import { Sessions } from './accounts/sessions.ts'
import { Tours } from './accounts/tours.ts'
import { Users } from './accounts/users.ts'
import { AskedQuestions } from './asked-questions.ts'
import { openSourceStores, type Places } from './blobs/open-source-stores.ts'
import { ChatSessions } from './chat-sessions.ts'
import { EventLog } from './event-store.ts'
import { ForgeLinks, ForgePulls } from './forge-links.ts'
import { Idempotency } from './idempotency-store.ts'
import { Jobs } from './jobs.ts'
import { KnowledgeBases } from './kb-store.ts'
import { Markers } from './markers.ts'
import { Notices } from './notices.ts'
import { rateCounter } from './rate-counter.ts'
import { Sites } from './sites.ts'
import { Sources } from './sources/sources.ts'
import { Tenants } from './tenants.ts'
import { Webhooks } from './webhooks.ts'

/** State that is not in git. */
export type Stores = ReturnType<typeof openStores>

export function openStores(places: Places) {
  const { database, now } = places
  const { db, notifications } = database
  const events = new EventLog(db, { notifications })
  return {
    tenants: new Tenants(db, notifications),
    knowledgeBases: new KnowledgeBases(db, notifications),
    apiKeys: new ApiKeys(database),
    oauthRecords: new OauthRecords(db),
    users: new Users(db),
    sessions: new Sessions(db),
    oneTimeLinks: new OneTimeLinks(db),
    audit: new Audit(db),
    tours: new Tours(db),
    /** Counter of requests, by caller and kind. */
    requestCounter: rateCounter({ db, now }, { name: 'request', span: 60_000 }),
    idempotency: new Idempotency(db, now),
    chatSessions: new ChatSessions(db),
    askedQuestions: new AskedQuestions(db),
    sites: new Sites(db),
    events,
    sources: new Sources(db, events),
    ...openSourceStores(places),
    jobs: new Jobs(db, notifications),
    webhooks: new Webhooks(db),
    notices: new Notices(db),
    /** Counter of mails, by person. */
    mailCounter: rateCounter({ db, now }, { name: 'mail', span: 3_600_000 }),
    forgeLinks: new ForgeLinks(db),
    forgePulls: new ForgePulls(db),
    markers: new Markers(db),
  }
}
