import type { CitedSource } from '../chat/cited-sources.ts'
import type { ChatPage, PastChat, PastTurn, TurnAddress } from '../chat/past-chats.ts'
import type { Rating } from '../chat/rate-answer.ts'
import type {
  Approval,
  CandidateComment,
  CandidateDetail,
  CandidateEdit,
  CandidateInput,
  CandidatePage,
  CandidateQuery,
  CandidateReceipt,
  CandidateState,
  Dismissal,
} from '../contract/candidates.ts'
import type { ChatAnswer, ChatQuestion, FeedbackInput, FeedbackReceipt } from '../contract/chat.ts'
import type {
  IngestReceipt,
  Source,
  SourceDetail,
  SourcePage,
  UploadInput,
  UploadProgress,
  UploadQuery,
  UploadStatus,
  UploadTicket,
} from '../contract/documents.ts'
import type { EventsQuery } from '../contract/events.ts'
import type { FileContent } from '../contract/file-content.ts'
import type { Graph, GraphQuery } from '../contract/graph.ts'
import type { KnowledgeBaseList } from '../contract/knowledge-bases.ts'
import type { Neuron, NeuronListQuery, NeuronPage } from '../contract/neurons.ts'
import type {
  RetrieveAnswer,
  RetrieveInput,
  SearchAnswer,
  SearchQuery,
  TenantSearchAnswer,
  TenantSearchQuery,
} from '../contract/search.ts'
import type { EventStream } from '../events/read-events.ts'
import type { ForgeDelivery } from '../forge/bridge/hear-delivery.ts'
import type { FailingLink } from '../forge/bridge/manage-links.ts'
import type { KbLabel } from '../kb/kb-label.ts'
import type { Problem } from '../operate/health.ts'
import type { BlockDiff, LineDiff, Versions } from '../pages/compare-pages.ts'
import type { KbDescription } from '../pages/describe-kb.ts'
import type { FoundName } from '../pages/graph/find-names.ts'
import type { LooseEnds } from '../pages/graph/read-loose-ends.ts'
import type { PageHistory, VersionText } from '../pages/read-history.ts'
import type { NeuronView } from '../pages/read-page.ts'
import type { TagPage, TagQuery } from '../pages/read-tags.ts'
import type { TreePage, TreeQuery } from '../pages/read-tree.ts'
import type { Rendered, RenderInput } from '../pages/render-markdown.ts'
import type { PageCheck } from '../pages/write/check-page.ts'
import type { Completed, Completion } from '../pages/write/complete.ts'
import type { BlankPage, OpenPage } from '../pages/write/open-page.ts'
import type { PageRename, RenamePreview } from '../pages/write/preview-rename.ts'
import type { Rebased } from '../pages/write/rebase-page.ts'
import type { Submitted } from '../pages/write/submit-page.ts'
import type { WriteOptions } from '../pages/write/write-page.ts'
import type { PageWrite } from '../pages/write/written-page.ts'
import type { PeopleServices } from '../people/people-services.ts'
import type { OpenSession } from '../people/session.ts'
import type { GitAddress, GitDoor } from '../push/git/git-door.ts'
import type { QueuePage, QueueQuery, QueueView } from '../queue/list-queue.ts'
import type { Next } from '../queue/queue-neighbours.ts'
import type { Outcome } from '../review/read-outcome.ts'
import type { Review } from '../review/review-candidate.ts'
import type { SimilarNeuron } from '../review/similar-neurons.ts'
import type { Caller } from '../rules/access/caller.ts'
import type { EmbeddingFigures } from '../search/kb/embedding-figures.ts'
import type { HitPage, KbHits, PersonQuery } from '../search/kb/search-pages.ts'
import type { Shelf } from '../sources/describe-shelf.ts'
import type { SourceSearch } from '../sources/list-sources.ts'
import type { SourceOutcome } from '../sources/read-source-outcome.ts'
import type { AskedPart, SourceText } from '../sources/read-source-text.ts'
import type { FormPart } from '../sources/upload-source.ts'
import type { ChunkRange } from '../sources/uploads/receive-chunk.ts'
import type { OverviewServices } from './overview-services.ts'
import type { SettingsServices } from './settings-services.ts'

/** What the routes need of the layers below. Methods throw `GanglionError` and `ValidationError`. */
export interface Services extends OverviewServices, SettingsServices {
  /** The caller of a token; undefined if it is malformed, unknown, expired or revoked. */
  authenticate(token: string): Promise<Caller | undefined>
  /** The session of a token; undefined if it is malformed, unknown or expired, or if the person has been disabled. */
  openSession(token: string, options: { isUse: boolean }): Promise<OpenSession | undefined>
  readonly people: PeopleServices
  submitCandidate(
    caller: Caller,
    input: CandidateInput,
    options: { idempotencyKey?: string; ifMatch?: string | undefined },
  ): Promise<CandidateReceipt>
  /** `seen`: the candidate must still wait, and be as it was seen. */
  approveCandidate(caller: Caller, candidateId: string, edit: CandidateEdit & { seen?: string }): Promise<Approval>
  dismissCandidate(
    caller: Caller,
    candidateId: string,
    dismissal: Dismissal & { seen?: string },
  ): Promise<CandidateState>
  reopenCandidate(caller: Caller, candidateId: string): Promise<CandidateState>
  commentCandidate(
    caller: Caller,
    candidateId: string,
    comment: CandidateComment,
    options?: { idempotencyKey?: string },
  ): Promise<CandidateState>
  listCandidates(caller: Caller, query: CandidateQuery): Promise<CandidatePage>
  getCandidate(caller: Caller, candidateId: string): Promise<CandidateDetail>
  /** A page of the queue, with what people filter it by. */
  listQueue(caller: Caller, query: QueueQuery): Promise<QueuePage>
  /** Of one knowledge base, or of all. */
  listFailingLinks(caller: Caller, kb?: string): Promise<FailingLink[]>
  /** A candidate with everything that a curator needs to decide, and its neighbours in a view of the queue. */
  reviewCandidate(caller: Caller, candidateId: string, view: QueueView): Promise<Review>
  /** Undefined while search is busy. */
  similarNeurons(caller: Caller, candidateId: string): Promise<SimilarNeuron[] | undefined>
  nextInQueue(caller: Caller, candidateId: string, view: QueueView): Promise<Next | undefined>
  readOutcome(caller: Caller, candidateId: string): Promise<Outcome>
  /** Proposes to revert an approved candidate. Returns the id of the new candidate. */
  proposeReverse(caller: Caller, candidateId: string): Promise<string>
  readNeuron(caller: Caller, neuron: { kb: string; seqId: string; at?: string }): Promise<Neuron>
  /** A file of a knowledge base that is no Neuron. */
  readFile(caller: Caller, kb: string, path: string): Promise<FileContent>
  /** A Neuron as a page, with its context: links, history, tags. */
  readPage(caller: Caller, neuron: { kb: string; seqId: string; at?: string }): Promise<NeuronView>
  readHistory(
    caller: Caller,
    neuron: { kb: string; seqId: string; before?: number | undefined; limit: number },
  ): Promise<PageHistory>
  /** Two versions of a Neuron, the older one first. */
  readVersions(
    caller: Caller,
    versions: { kb: string; seqId: string; from: number; to: number },
  ): Promise<{ kb: KbLabel; before: VersionText; after: VersionText }>
  /** What stands in a folder. */
  readTree(caller: Caller, kb: string, query: TreeQuery): Promise<TreePage>
  readTags(caller: Caller, kb: string, query: TagQuery): Promise<TagPage>
  /** Pages without links, and links without pages. */
  readLooseEnds(caller: Caller, kb: string): Promise<LooseEnds>
  /** As many Neurons as can be drawn, the best connected first. */
  readWholeGraph(caller: Caller, kb: string): Promise<Graph>
  /** Markdown as safe HTML, as the caller may see its links and files. */
  renderMarkdown(caller: Caller, input: RenderInput): Promise<Rendered>
  /** How the Markdown of two versions differs, by line and by word. */
  compareLines(versions: Versions): Promise<LineDiff>
  /** How two versions of a page differ as the caller sees them, by block, in safe HTML. */
  comparePages(caller: Caller, versions: Versions & { kb: string; path?: string | undefined }): Promise<BlockDiff>
  /** What one knowledge base is called. */
  describeKb(caller: Caller, kb: string): Promise<KbDescription>
  /** A version of a page to edit, or what the editor of a new page needs. */
  openPage(caller: Caller, page: { kb: string; seqId: string; at?: string }): Promise<OpenPage>
  openBlankPage(caller: Caller, kb: string): Promise<BlankPage>
  /** Proposes a page, or publishes it. */
  writePage(caller: Caller, write: PageWrite, options: WriteOptions): Promise<Submitted>
  /** What is wrong with a page before it is written. */
  checkPage(caller: Caller, write: PageWrite, options: { kb: string }): Promise<PageCheck>
  /** Rebases a typed text onto the current version of its page. */
  rebasePage(caller: Caller, edit: { kb: string; seqId: string; base: string; content: string }): Promise<Rebased>
  previewRename(caller: Caller, write: PageRename, options: { kb: string }): Promise<RenamePreview>
  removePage(caller: Caller, target: PageRename['target'], options: WriteOptions): Promise<Submitted>
  /** Whether an edit has become a candidate. */
  isSubmitted(caller: Caller, candidateId: string): Promise<boolean>
  /** Completions of what a caller has typed so far. */
  complete(caller: Caller, kb: string, completion: Completion): Promise<Completed[]>
  listKnowledgeBases(caller: Caller): Promise<KnowledgeBaseList>
  listNeurons(caller: Caller, kb: string, query: NeuronListQuery): Promise<NeuronPage>
  readGraph(caller: Caller, kb: string, query: GraphQuery): Promise<Graph>
  /** An index of a knowledge base for language models, in Markdown. */
  llmsText(caller: Caller, kb: string): Promise<string>
  search(caller: Caller, kb: string, query: SearchQuery): Promise<SearchAnswer>
  searchTenant(caller: Caller, query: TenantSearchQuery): Promise<TenantSearchAnswer>
  /** A page of what a person's query finds. */
  searchPages(caller: Caller, kb: string, query: PersonQuery & { tag?: string; page: number }): Promise<HitPage>
  /** The best of what it finds in each knowledge base. */
  searchEverywhere(caller: Caller, query: PersonQuery): Promise<KbHits[]>
  findNames(caller: Caller, kb: string, query: { q: string; limit: number }): Promise<FoundName[]>
  retrieve(caller: Caller, kb: string, input: RetrieveInput): Promise<RetrieveAnswer>
  /** Yields the answer's text as it comes and returns the whole. A signal that aborts ends the work. */
  chat(
    caller: Caller,
    question: ChatQuestion,
    signal: AbortSignal,
    options?: { idempotencyKey?: string },
  ): AsyncGenerator<string, ChatAnswer>
  /** The caller's own conversations. */
  listChats(caller: Caller, kb: string, page: { cursor?: string | undefined }): Promise<ChatPage>
  readChat(caller: Caller, chat: { kb: string; id: string; before?: number }): Promise<PastChat>
  /** Puts feedback on an answer into the queue. */
  rateAnswer(caller: Caller, turn: TurnAddress, rating: Rating): Promise<FeedbackReceipt>
  /** The Sources that Neurons came from, by seqId. */
  citedSources(caller: Caller, kb: string, seqIds: readonly string[]): Promise<Map<string, CitedSource[]>>
  readChatTurn(caller: Caller, turn: TurnAddress): Promise<PastTurn>
  deleteChat(caller: Caller, kb: string, id: string): Promise<void>
  submitFeedback(
    caller: Caller,
    kb: string,
    feedback: FeedbackInput,
    options: { idempotencyKey?: string },
  ): Promise<FeedbackReceipt>
  /** Takes a file from a form as it comes. */
  uploadSource(
    caller: Caller,
    kb: string,
    form: AsyncIterable<FormPart>,
    options: UploadQuery & { idempotencyKey?: string },
  ): Promise<Source>
  beginUpload(
    caller: Caller,
    kb: string,
    input: UploadInput,
    options: UploadQuery & { idempotencyKey?: string },
  ): Promise<UploadTicket>
  receiveChunk(
    caller: Caller,
    uploadId: string,
    range: ChunkRange,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<UploadProgress>
  finalizeUpload(caller: Caller, uploadId: string, options: UploadQuery): Promise<Source>
  readUpload(caller: Caller, uploadId: string): Promise<UploadStatus>
  abandonUpload(caller: Caller, uploadId: string): Promise<void>
  /** The uploads that the caller has begun and not finished. */
  listOpenUploads(caller: Caller, kb: string): Promise<UploadStatus[]>
  describeShelf(caller: Caller, kb: string): Promise<Shelf>
  listSources(caller: Caller, kb: string, query: SourceSearch): Promise<SourcePage>
  readSource(caller: Caller, docId: string): Promise<SourceDetail>
  /** A part of its text; undefined while that is not read. */
  readSourceText(caller: Caller, docId: string, asked: AskedPart): Promise<SourceText | undefined>
  /** What has become of it. */
  readSourceOutcome(caller: Caller, docId: string): Promise<SourceOutcome>
  sourceContent(caller: Caller, docId: string): Promise<FileContent>
  archiveSource(caller: Caller, docId: string): Promise<void>
  ingestDocument(caller: Caller, docId: string): Promise<IngestReceipt>
  /** What happens from now on, or after an event, until the signal aborts. */
  readEvents(
    caller: Caller,
    query: EventsQuery & { lastEventId?: number | undefined },
    signal: AbortSignal,
  ): Promise<EventStream>
  /** The way to a knowledge base's repository, by the slugs or ids of its tenant and its own. */
  openGitDoor(caller: Caller, address: GitAddress): Promise<GitDoor>
  /** Receives a webhook of a forge. @throws {GanglionError} `not_found`, `invalid_token` */
  hearForge(link: string, delivery: ForgeDelivery): Promise<void>
  /** Whether requests can be served; false while starting. */
  isReady(): boolean
  /** What of the server is broken. */
  problems(): Promise<Problem[]>
  /** What a person should see to, though requests are served. */
  notes(): Promise<string[]>
  /** The version of the git that serves clones and pushes; undefined where none is installed, and they are not served. */
  nativeGit(): Promise<string | undefined>
  /** Counts a request of a caller. @returns how many there were in the current minute, and the milliseconds until it ends */
  countRequest(rate: string, callerId: string): Promise<{ points: number; endsIn: number }>
  /** Free space of the data directory's disk, 0 to 1. */
  freeDiskRatio(): Promise<number>
  /** Undefined where the server has no embeddings model. */
  readEmbeddings?: () => Promise<EmbeddingFigures>
}
