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
} from '../events/webhooks/manage-webhooks.ts'
import { linkAsOffered, listOfferedCredentials } from '../forge/bridge/link-as-offered.ts'
import { listForgeLinks, unlinkForge } from '../forge/bridge/manage-links.ts'
import type { OfferedCredential } from '../forge/bridge/offered-credentials.ts'
import type { Services } from '../http/services.ts'
import type { SettingsServices } from '../http/settings-services.ts'
import type { Context } from '../kb/context.ts'
import type { Health } from '../operate/health.ts'
import { HealthReports } from '../operate/health-report.ts'
import { changeKbSettings, previewKbSettings, readKbSettings } from '../operate/settings/change-kb-settings.ts'
import { Verifications } from '../operate/verify/verifications.ts'
import { createApiKey, listApiKeys, revokeApiKey } from '../people/manage-api-keys.ts'
import { packageVersion } from './package-version.ts'

type Parts = {
  health: Health
  webhookPrivate: boolean
  forgeCredentials: readonly OfferedCredential[]
} & Pick<Services, 'freeDiskRatio'>

export function settingsServicesOf(
  ctx: Context,
  { health, webhookPrivate, forgeCredentials: offered, freeDiskRatio }: Parts,
): SettingsServices {
  const receivers = { allowPrivate: webhookPrivate }
  const verifications = new Verifications(ctx)
  const reports = new HealthReports(ctx, { health, verifications, version: packageVersion })
  return {
    createApiKey: (caller, input) => createApiKey(ctx, caller, input),
    listApiKeys: (caller, page) => listApiKeys(ctx, caller, page),
    revokeApiKey: (caller, id) => revokeApiKey(ctx, caller, id),
    addWebhook: (caller, input) => addWebhook(ctx, caller, input, receivers),
    listWebhooks: (caller) => listWebhooks(ctx, caller),
    readWebhook: (caller, id) => readWebhook(ctx, caller, id),
    removeWebhook: (caller, id) => removeWebhook(ctx, caller, id),
    setWebhookKinds: (caller, id, kinds) => setWebhookKinds(ctx, caller, id, kinds),
    pauseWebhook: (caller, id) => pauseWebhook(ctx, caller, id),
    replayWebhook: (caller, id, range) => replayWebhook(ctx, caller, id, range),
    testWebhook: (caller, id) => testWebhook(ctx, caller, id, receivers),
    resendEvent: (caller, delivery) => resendEvent(ctx, caller, delivery, receivers),
    listForgeLinks: ({ tenantId }) => listForgeLinks(ctx, tenantId),
    listForgeCredentials: (caller) => listOfferedCredentials(ctx, caller, offered),
    linkForge: (caller, request) => linkAsOffered(ctx, caller, { offered, env: process.env }, request),
    unlinkForge: async (caller, kb) => void (await unlinkForge(ctx, caller, kb)),
    readKbSettings: (caller, kb) => readKbSettings(ctx, caller, kb),
    previewKbSettings: (caller, kb, change) => previewKbSettings(ctx, caller, kb, change),
    changeKbSettings: (caller, kb, change) => changeKbSettings(ctx, caller, kb, change),
    readHealth: async (caller) => reports.read(caller, await freeDiskRatio()),
    startVerification: async (caller) => void verifications.start(caller),
  }
}
