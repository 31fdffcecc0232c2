import { statfs } from 'node:fs/promises'
import type { Answerer } from '../chat/answerer.ts'
import { chatOnce } from '../chat/chat.ts'
import { citedSources } from '../chat/cited-sources.ts'
import { ExtractPool } from '../chat/extract/extract-pool.ts'
import { deleteChat, listChats, readChat, readChatTurn } from '../chat/past-chats.ts'
import { rateAnswer } from '../chat/rate-answer.ts'
import { submitFeedback } from '../chat/submit-feedback.ts'
import { readEvents } from '../events/read-events.ts'
import { hearDelivery } from '../forge/bridge/hear-delivery.ts'
import { listFailingLinks } from '../forge/bridge/manage-links.ts'
import type { OfferedCredential } from '../forge/bridge/offered-credentials.ts'
import { nativeGit } from '../git/native-git.ts'
import type { Services } from '../http/services.ts'
import type { Context } from '../kb/context.ts'
import { Health } from '../operate/health.ts'
import { readFile } from '../pages/attachments/read-file.ts'
import { compareLines, comparePages } from '../pages/compare-pages.ts'
import { describeKb } from '../pages/describe-kb.ts'
import { findNames } from '../pages/graph/find-names.ts'
import { readGraph } from '../pages/graph/read-graph.ts'
import { readLooseEnds } from '../pages/graph/read-loose-ends.ts'
import { readWholeGraph } from '../pages/graph/read-whole-graph.ts'
import { listKnowledgeBases } from '../pages/list-knowledge-bases.ts'
import { listNeurons } from '../pages/list-neurons.ts'
import { llmsText } from '../pages/llms-txt.ts'
import { readHistory, readVersions } from '../pages/read-history.ts'
import { readNeuron } from '../pages/read-neuron.ts'
import { readPage } from '../pages/read-page.ts'
import { readTags } from '../pages/read-tags.ts'
import { readTree } from '../pages/read-tree.ts'
import { renderMarkdown } from '../pages/render-markdown.ts'
import { checkPage } from '../pages/write/check-page.ts'
import { complete } from '../pages/write/complete.ts'
import { isSubmitted } from '../pages/write/is-submitted.ts'
import { openBlankPage, openPage } from '../pages/write/open-page.ts'
import { previewRename } from '../pages/write/preview-rename.ts'
import { rebasePage } from '../pages/write/rebase-page.ts'
import { removePage, writePage } from '../pages/write/write-page.ts'
import type { IdentityProviderOptions } from '../people/identity-provider.ts'
import { peopleServices } from '../people/people-services.ts'
import { openSession } from '../people/session.ts'
import { openGitDoor } from '../push/git/open-git-door.ts'
import { approveCandidate } from '../queue/approve-candidate.ts'
import { commentCandidate } from '../queue/comment-candidate.ts'
import { dismissCandidate, reopenCandidate } from '../queue/decide-candidate.ts'
import { KbFiguresCache } from '../queue/kb-figures.ts'
import { listCandidates } from '../queue/list-candidates.ts'
import { listQueue } from '../queue/list-queue.ts'
import { nextInQueue } from '../queue/queue-neighbours.ts'
import { readCandidate } from '../queue/read-candidate.ts'
import { submitCandidate } from '../queue/submit-candidate.ts'
import { proposeReverse } from '../review/propose-reverse.ts'
import { readOutcome } from '../review/read-outcome.ts'
import { reviewCandidate } from '../review/review-candidate.ts'
import { similarNeurons } from '../review/similar-neurons.ts'
import { embeddingFigures } from '../search/kb/embedding-figures.ts'
import { retrieve } from '../search/kb/retrieve.ts'
import { search, searchTenant } from '../search/kb/search.ts'
import { searchEverywhere, searchPages } from '../search/kb/search-pages.ts'
import { archiveSource } from '../sources/archive-source.ts'
import { describeShelf } from '../sources/describe-shelf.ts'
import { ingestDocument } from '../sources/ingest/ingest-document.ts'
import { listSources } from '../sources/list-sources.ts'
import { readSource, sourceContent } from '../sources/read-source.ts'
import { readSourceOutcome } from '../sources/read-source-outcome.ts'
import { readSourceText } from '../sources/read-source-text.ts'
import { uploadSource } from '../sources/upload-source.ts'
import { abandonUpload } from '../sources/uploads/abandon-upload.ts'
import { beginUpload } from '../sources/uploads/begin-upload.ts'
import { finalizeUpload } from '../sources/uploads/finalize-upload.ts'
import { listOpenUploads } from '../sources/uploads/list-open-uploads.ts'
import { readUpload } from '../sources/uploads/read-upload.ts'
import { receiveChunk } from '../sources/uploads/receive-chunk.ts'
import { overviewServicesOf } from './overview-services.ts'
import { settingsServicesOf } from './settings-services.ts'

/** Gives the HTTP server its use cases, on one data directory. */
export function servicesOf(
  ctx: Context,
  {
    answerer = ctx.threads.of(ExtractPool),
    webhookPrivate = false,
    forgeCredentials = [],
    identityProvider,
  }: {
    answerer?: Answerer
    webhookPrivate?: boolean
    forgeCredentials?: readonly OfferedCredential[]
    identityProvider?: IdentityProviderOptions | undefined
  } = {},
): Omit<Services, 'isReady'> {
  const health = new Health(ctx)
  const { embeddingModel } = ctx
  const figures = new KbFiguresCache(ctx)
  const freeDiskRatio = async () => {
    const { bavail, blocks } = await statfs(ctx.directory.root)
    return bavail / blocks
  }
  return {
    ...overviewServicesOf(ctx, figures),
    ...settingsServicesOf(ctx, { health, webhookPrivate, forgeCredentials, freeDiskRatio }),
    async authenticate(token) {
      const key = await ctx.apiKeys.authenticate(token, ctx.now())
      return (
        key && {
          id: `key:${key.id}`,
          name: key.name,
          tenantId: key.tenantId,
          role: key.role,
          connectors: key.connectors,
          git: key.git,
        }
      )
    },
    openSession: (token, options) => openSession(ctx, token, options),
    people: peopleServices(ctx, identityProvider),
    submitCandidate: (caller, input, options) => submitCandidate(ctx, caller, input, options),
    approveCandidate: (caller, candidateId, edit) => approveCandidate(ctx, caller, candidateId, edit),
    dismissCandidate: (caller, candidateId, dismissal) => dismissCandidate(ctx, caller, candidateId, dismissal),
    reopenCandidate: (caller, candidateId) => reopenCandidate(ctx, caller, candidateId),
    commentCandidate: (...comment) => commentCandidate(ctx, ...comment),
    listCandidates: (caller, query) => listCandidates(ctx, caller, query),
    getCandidate: (caller, candidateId) => readCandidate(ctx, caller, candidateId),
    listQueue: (caller, query) => listQueue(ctx, caller, query),
    listFailingLinks: (caller, kb) => listFailingLinks(ctx, caller, kb),
    reviewCandidate: (caller, candidateId, view) => reviewCandidate(ctx, caller, candidateId, view),
    similarNeurons: (caller, candidateId) => similarNeurons(ctx, caller, candidateId),
    nextInQueue: (caller, candidateId, view) => nextInQueue(ctx, caller, candidateId, view),
    readOutcome: (caller, candidateId) => readOutcome(ctx, caller, candidateId),
    proposeReverse: (caller, candidateId) => proposeReverse(ctx, caller, candidateId),
    readNeuron: (caller, neuron) => readNeuron(ctx, caller, neuron),
    readPage: (caller, neuron) => readPage(ctx, caller, neuron),
    readHistory: (caller, neuron) => readHistory(ctx, caller, neuron),
    readVersions: (caller, versions) => readVersions(ctx, caller, versions),
    readTree: (caller, kb, query) => readTree(ctx, caller, kb, query),
    readTags: (caller, kb, query) => readTags(ctx, caller, kb, query),
    readLooseEnds: (caller, kb) => readLooseEnds(ctx, caller, kb),
    readWholeGraph: (caller, kb) => readWholeGraph(ctx, caller, kb),
    renderMarkdown: (caller, input) => renderMarkdown(ctx, caller, input),
    compareLines: (versions) => compareLines(ctx, versions),
    comparePages: (caller, versions) => comparePages(ctx, caller, versions),
    describeKb: (caller, kb) => describeKb(ctx, caller, kb),
    openPage: (caller, page) => openPage(ctx, caller, page),
    openBlankPage: (caller, kb) => openBlankPage(ctx, caller, kb),
    writePage: (caller, write, options) => writePage(ctx, caller, write, options),
    checkPage: (caller, write, options) => checkPage(ctx, caller, write, options),
    rebasePage: (caller, edit) => rebasePage(ctx, caller, edit),
    previewRename: (caller, write, options) => previewRename(ctx, caller, write, options),
    removePage: (caller, target, options) => removePage(ctx, caller, target, options),
    isSubmitted: (caller, candidateId) => isSubmitted(ctx, caller, candidateId),
    complete: (caller, kb, completion) => complete(ctx, caller, kb, completion),
    listKnowledgeBases: (caller) => listKnowledgeBases(ctx, caller),
    listNeurons: (caller, kb, query) => listNeurons(ctx, caller, kb, query),
    readGraph: (caller, kb, query) => readGraph(ctx, caller, kb, query),
    llmsText: (caller, kb) => llmsText(ctx, caller, kb),
    search: (caller, kb, query) => search(ctx, caller, kb, query),
    searchTenant: (caller, query) => searchTenant(ctx, caller, query),
    searchPages: (caller, kb, query) => searchPages(ctx, caller, kb, query),
    searchEverywhere: (caller, query) => searchEverywhere(ctx, caller, query),
    findNames: (caller, kb, query) => findNames(ctx, caller, kb, query),
    retrieve: (caller, kb, input) => retrieve(ctx, caller, kb, input),
    chat: (...asked) => chatOnce(ctx, answerer, ...asked),
    listChats: (caller, kb, page) => listChats(ctx, caller, kb, page),
    readChat: (caller, asked) => readChat(ctx, caller, asked),
    readChatTurn: (caller, turn) => readChatTurn(ctx, caller, turn),
    rateAnswer: (caller, turn, rating) => rateAnswer(ctx, caller, turn, rating),
    citedSources: (caller, kb, seqIds) => citedSources(ctx, caller, kb, seqIds),
    deleteChat: (caller, kb, id) => deleteChat(ctx, caller, kb, id),
    submitFeedback: (caller, kb, feedback, options) => submitFeedback(ctx, caller, kb, feedback, options),
    uploadSource: (caller, kb, form, options) => uploadSource(ctx, caller, kb, form, options),
    beginUpload: (caller, kb, input, options) => beginUpload(ctx, caller, kb, input, options),
    receiveChunk: (caller, uploadId, range, bytes) => receiveChunk(ctx, caller, uploadId, range, bytes),
    finalizeUpload: (caller, uploadId, options) => finalizeUpload(ctx, caller, uploadId, options),
    readUpload: (caller, uploadId) => readUpload(ctx, caller, uploadId),
    abandonUpload: (caller, uploadId) => abandonUpload(ctx, caller, uploadId),
    listOpenUploads: (caller, kb) => listOpenUploads(ctx, caller, kb),
    describeShelf: (caller, kb) => describeShelf(ctx, caller, kb),
    listSources: (caller, kb, query) => listSources(ctx, caller, kb, query),
    readSource: (caller, docId) => readSource(ctx, caller, docId),
    readSourceText: (caller, docId, asked) => readSourceText(ctx, caller, docId, asked),
    readSourceOutcome: (caller, docId) => readSourceOutcome(ctx, caller, docId),
    readFile: (caller, kb, path) => readFile(ctx, caller, kb, path),
    sourceContent: (caller, docId) => sourceContent(ctx, caller, docId),
    archiveSource: (caller, docId) => archiveSource(ctx, caller, docId),
    ingestDocument: (caller, docId) => ingestDocument(ctx, caller, docId),
    readEvents: (caller, query, signal) => readEvents(ctx, caller, query, signal),
    openGitDoor: (caller, address) => openGitDoor(ctx, caller, address),
    hearForge: (link, delivery) => hearDelivery(ctx, process.env, link, delivery),
    problems: () => health.problems(),
    notes: () => health.notes(),
    nativeGit,
    countRequest: (rate, callerId) => ctx.requestCounter.add(`${rate} ${callerId}`, 1),
    freeDiskRatio,
    ...(embeddingModel && { readEmbeddings: () => embeddingFigures(ctx, embeddingModel) }),
  }
}
