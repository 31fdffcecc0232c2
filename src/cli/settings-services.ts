import type { Services } from '../http/services.ts'
import type { SettingsServices } from '../http/settings-services.ts'
import {
  addWebhook,
  listWebhooks,
  pauseWebhook,
  readWebhook,
  removeWebhook,
  replayWebhook,
  resendEvent,
  setWebhookKinds,
  testWebhook,
} from '../services/events/webhooks/manage-webhooks.ts'
import { linkAsOffered, listOfferedCredentials } from '../services/forge/link-as-offered.ts'
import { listForgeLinks, unlinkForge } from '../services/forge/manage-links.ts'
import type { OfferedCredential } from '../services/forge/offered-credentials.ts'
import type { Ganglion } from '../services/ganglion.ts'
import type { Health } from '../services/operations/health.ts'
import { HealthReports } from '../services/operations/health-report.ts'
import { Verifications } from '../services/operations/verify/verifications.ts'
import { createApiKey, listApiKeys, revokeApiKey } from '../services/people/manage-api-keys.ts'
import { changeKbSettings, previewKbSettings, readKbSettings } from '../services/settings/change-kb-settings.ts'
import { packageVersion } from './package-version.ts'

type Parts = {
  health: Health
  webhookPrivate: boolean
  forgeCredentials: readonly OfferedCredential[]
} & Pick<Services, 'freeDiskRatio'>

export function settingsServicesOf(
  ganglion: Ganglion,
  { health, webhookPrivate, forgeCredentials: offered, freeDiskRatio }: Parts,
): SettingsServices {
  const receivers = { allowPrivate: webhookPrivate }
  const verifications = new Verifications(ganglion)
  const reports = new HealthReports(ganglion, { health, verifications, version: packageVersion })
  return {
    createApiKey: (caller, input) => createApiKey(ganglion, caller, input),
    listApiKeys: (caller, page) => listApiKeys(ganglion, caller, page),
    revokeApiKey: (caller, id) => revokeApiKey(ganglion, caller, id),
    addWebhook: (caller, input) => addWebhook(ganglion, caller, input, receivers),
    listWebhooks: (caller) => listWebhooks(ganglion, caller),
    readWebhook: (caller, id) => readWebhook(ganglion, caller, id),
    removeWebhook: (caller, id) => removeWebhook(ganglion, caller, id),
    setWebhookKinds: (caller, id, kinds) => setWebhookKinds(ganglion, caller, id, kinds),
    pauseWebhook: (caller, id) => pauseWebhook(ganglion, caller, id),
    replayWebhook: (caller, id, range) => replayWebhook(ganglion, caller, id, range),
    testWebhook: (caller, id) => testWebhook(ganglion, caller, id, receivers),
    resendEvent: (caller, delivery) => resendEvent(ganglion, caller, delivery, receivers),
    listForgeLinks: ({ tenantId }) => listForgeLinks(ganglion, tenantId),
    listForgeCredentials: (caller) => listOfferedCredentials(ganglion, caller, offered),
    linkForge: (caller, request) => linkAsOffered(ganglion, caller, { offered, env: process.env }, request),
    unlinkForge: async (caller, kb) => void (await unlinkForge(ganglion, caller, kb)),
    readKbSettings: (caller, kb) => readKbSettings(ganglion, caller, kb),
    previewKbSettings: (caller, kb, change) => previewKbSettings(ganglion, caller, kb, change),
    changeKbSettings: (caller, kb, change) => changeKbSettings(ganglion, caller, kb, change),
    readHealth: async (caller) => reports.read(caller, await freeDiskRatio()),
    startVerification: async (caller) => void verifications.start(caller),
  }
}
