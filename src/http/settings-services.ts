import type {
  ApiKeySummary,
  NewApiKey,
  NewWebhook,
  WebhookDelivery,
  WebhookSummary,
} from '../contract/administration.ts'
import type { EventKind } from '../contract/events.ts'
import type { OfferedCredentialSummary, OfferedLinkRequest } from '../forge/bridge/link-as-offered.ts'
import type { LinkSummary } from '../forge/bridge/manage-links.ts'
import type { HealthReport } from '../operate/health-report.ts'
import type { KbSettingsForm, SettingsChange, SettingsPreview } from '../operate/settings/change-kb-settings.ts'
import type { ApiKeyPage } from '../people/manage-api-keys.ts'
import type { Caller } from '../rules/access/caller.ts'

/** Use cases of administrators. The routes have checked that the caller is one. */
export interface SettingsServices {
  /** The token is in this answer only. */
  createApiKey(caller: Caller, input: NewApiKey): Promise<{ key: ApiKeySummary; token: string }>
  listApiKeys(caller: Caller, page: { before?: string | undefined }): Promise<ApiKeyPage>
  revokeApiKey(caller: Caller, id: string): Promise<void>
  /** The secret is in this answer only. */
  addWebhook(caller: Caller, input: NewWebhook): Promise<{ id: string; url: string; secret: string }>
  listWebhooks(caller: Caller): Promise<WebhookSummary[]>
  readWebhook(
    caller: Caller,
    id: string,
  ): Promise<{ webhook: WebhookSummary; deliveries: WebhookDelivery[]; firstEvent: number }>
  removeWebhook(caller: Caller, id: string): Promise<void>
  setWebhookKinds(caller: Caller, id: string, kinds: readonly EventKind[]): Promise<void>
  pauseWebhook(caller: Caller, id: string): Promise<void>
  replayWebhook(
    caller: Caller,
    id: string,
    range: { from?: number | undefined },
  ): Promise<{ from: number; events: number }>
  testWebhook(caller: Caller, id: string): Promise<WebhookDelivery>
  /** Sends one event again. */
  resendEvent(caller: Caller, delivery: { id: string; eventId: number }): Promise<WebhookDelivery>
  listForgeLinks(caller: Caller): Promise<LinkSummary[]>
  /** What the operator lets the caller's tenant link with. */
  listForgeCredentials(caller: Caller): Promise<OfferedCredentialSummary[]>
  /** @throws {ValidationError} */
  linkForge(caller: Caller, request: OfferedLinkRequest): Promise<{ isPublic: boolean }>
  /** @throws {GanglionError} `not_found` */
  unlinkForge(caller: Caller, kb: string): Promise<void>
  readKbSettings(caller: Caller, kb: string): Promise<KbSettingsForm>
  previewKbSettings(caller: Caller, kb: string, change: SettingsChange): Promise<SettingsPreview>
  /** Answers the commit; undefined where nothing differs. */
  changeKbSettings(caller: Caller, kb: string, change: SettingsChange): Promise<string | undefined>
  readHealth(caller: Caller): Promise<HealthReport>
  /** Begins a verification in the background, unless one is under way. */
  startVerification(caller: Caller): Promise<void>
}
