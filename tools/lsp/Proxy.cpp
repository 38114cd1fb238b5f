//===-- Proxy.cpp - Proxy between an editor and MLIR's server -------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library of MLIR's language server offers dialects no way to add to hover or completion. So
// this proxy adds to its answers.
//
//===----------------------------------------------------------------------===//

#include "Proxy.h"

#include "Document.h"

#include "cgx/Tools/SourceFile.h"
#include "cgx/Tools/SourceText.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/LSP/Transport.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace json = llvm::json;

namespace cgx::lsp {
namespace {

/// The longest text that is parsed; MLIR uses up to a hundred times as much memory.
constexpr size_t kLongestText = size_t(64) << 20;

/// A value of the protocol's ErrorCodes.
constexpr int kRequestFailed = -32803;

/// A value of the protocol's DiagnosticSeverity.
constexpr int kError = 1;

/// A value of the protocol's CompletionItemKind.
constexpr int kValueItem = 12;

/// Writes a message after a header with its length. Returns false when the reader is gone.
bool writeMessage(int descriptor, llvm::StringRef body) {
  std::string message = ("Content-Length: " + llvm::Twine(body.size()) + "\r\n\r\n" + body).str();
  for (llvm::StringRef left = message; !left.empty();) {
    const ssize_t count = write(descriptor, left.data(), left.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    left = left.drop_front(size_t(count));
  }
  return true;
}

std::string textOf(const json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// Returns the next message that is an object; `body` becomes its original text.
std::optional<json::Object> readMessage(llvm::lsp::JSONTransportInputOverFile &input, std::string &body) {
  while (!input.isEndOfInput() && !input.hasError()) {
    body.clear();
    if (llvm::failed(input.readMessage(body)))
      continue;
    llvm::Expected<json::Value> message = json::parse(body);
    if (!message) {
      llvm::consumeError(message.takeError());
      continue;
    }
    if (const json::Object *object = message->getAsObject())
      return *object;
  }
  return std::nullopt;
}

class Proxy {
public:
  Proxy(const mlir::DialectRegistry &registry, int toServer, std::FILE *fromServer)
      : registry(registry), toServer(toServer), fromServer(fromServer) {}

  /// Forwards requests until the editor closes the connection.
  void handOnRequests() {
    llvm::lsp::JSONTransportInputOverFile input(stdin);
    std::string body;
    while (std::optional<json::Object> message = readMessage(input, body)) {
      if (refuseBytecode(*message))
        continue;
      if (refuseText(*message))
        body = textOf(json::Value(json::Object(*message)));
      note(*message);
      if (!writeMessage(toServer, body))
        break;
    }
    close(toServer);
  }

  /// Forwards answers until the server closes the connection.
  void handOnAnswers() {
    llvm::lsp::JSONTransportInputOverFile input(fromServer);
    std::string body;
    while (std::optional<json::Object> message = readMessage(input, body)) {
      if (complete(*message))
        body = textOf(json::Value(std::move(*message)));
      if (!answer(body))
        break;
    }
  }

private:
  struct Question {
    bool isHover;
    std::shared_ptr<Document> document;
    Place place;
  };

  /// Sends a message to the editor; both threads do.
  bool answer(llvm::StringRef body) {
    std::lock_guard guard(output);
    return writeMessage(STDOUT_FILENO, body);
  }

  /// Answers a request for the text of a bytecode file that cannot be read, because the server would read it
  /// anyway. Returns true if the message was such a request.
  bool refuseBytecode(const json::Object &message) {
    const json::Object *parameters = message.getObject("params");
    const json::Value *id = message.get("id");
    if (message.getString("method") != llvm::StringRef("mlir/convertFromBytecode") || !parameters || !id)
      return false;
    llvm::Expected<llvm::lsp::URIForFile> file =
        llvm::lsp::URIForFile::fromURI(parameters->getString("uri").value_or(""));
    if (!file) {
      llvm::consumeError(file.takeError());
      return false; // the server reports the error
    }
    std::string why;
    std::unique_ptr<llvm::MemoryBuffer> buffer = readSourceFile(file->file().str(), why);
    if (!buffer)
      why = file->file().str() + ": " + why;
    else if (prepareSource(std::move(buffer), registry, why))
      return false;
    return answer(textOf(json::Object{{"jsonrpc", "2.0"},
                                      {"id", *id},
                                      {"error", json::Object{{"code", kRequestFailed}, {"message", why}}}}));
  }

  /// Removes a text that MLIR's parser would not survive from a message, and keeps the reason. Returns true
  /// if it did.
  bool refuseText(json::Object &message) {
    json::Object *parameters = message.getObject("params");
    const json::Object *file = parameters ? parameters->getObject("textDocument") : nullptr;
    const llvm::StringRef method = message.getString("method").value_or("");
    json::Object *holder = nullptr;
    if (method == "textDocument/didOpen")
      holder = parameters ? parameters->getObject("textDocument") : nullptr;
    else if (json::Array *changes = parameters && method == "textDocument/didChange"
                                        ? parameters->getArray("contentChanges")
                                        : nullptr;
             changes && !changes->empty())
      holder = changes->back().getAsObject();
    if (!file || !holder)
      return false;
    const std::string name = file->getString("uri").value_or("").str();
    const llvm::StringRef text = holder->getString("text").value_or("");
    std::optional<std::string> reason;
    if (text.size() > kLongestText)
      reason = "expected a text of at most " + std::to_string(kLongestText >> 20) + " MiB, got " +
               std::to_string(text.size() >> 20) + " MiB: use cgx-opt";
    else
      reason = explainUnreadable(
          *llvm::MemoryBuffer::getMemBuffer(text, "text", /*RequiresNullTerminator=*/false));
    std::lock_guard guard(mutex);
    refusals.erase(name);
    if (!reason)
      return false;
    refusals[name] = *reason;
    (*holder)["text"] = "";
    return true;
  }

  /// Adds to the server's diagnostics the reason why a text was not parsed. Returns true if there was one.
  bool addRefusal(json::Object &message) {
    json::Object *parameters = message.getObject("params");
    json::Array *diagnostics = parameters ? parameters->getArray("diagnostics") : nullptr;
    if (!diagnostics)
      return false;
    std::lock_guard guard(mutex);
    auto found = refusals.find(parameters->getString("uri").value_or("").str());
    if (found == refusals.end())
      return false;
    const auto start = [] { return json::Object{{"line", 0}, {"character", 0}}; };
    diagnostics->push_back(json::Object{{"range", json::Object{{"start", start()}, {"end", start()}}},
                                        {"severity", kError},
                                        {"source", "cgx"},
                                        {"message", found->second}});
    return true;
  }

  /// Keeps the texts that are open in the editor (whole ones, as the server requests), and the place of each
  /// pending request.
  void note(const json::Object &message) {
    const json::Object *parameters = message.getObject("params");
    const json::Object *file = parameters ? parameters->getObject("textDocument") : nullptr;
    if (!file)
      return;
    const std::string name = file->getString("uri").value_or("").str();
    const llvm::StringRef method = message.getString("method").value_or("");
    std::lock_guard guard(mutex);
    if (method == "textDocument/didOpen") {
      documents[name] = std::make_shared<Document>(file->getString("text").value_or("").str(), registry);
    } else if (method == "textDocument/didChange") {
      const json::Array *changes = parameters->getArray("contentChanges");
      const json::Object *last = changes && !changes->empty() ? changes->back().getAsObject() : nullptr;
      if (last)
        documents[name] = std::make_shared<Document>(last->getString("text").value_or("").str(), registry);
    } else if (method == "textDocument/didClose") {
      documents.erase(name);
    } else if (method == "textDocument/hover" || method == "textDocument/completion") {
      const json::Object *place = parameters->getObject("position");
      auto document = documents.find(name);
      const json::Value *id = message.get("id");
      if (place && id && document != documents.end())
        questions[textOf(*id)] = {method == "textDocument/hover",
                                  document->second,
                                  {unsigned(place->getInteger("line").value_or(0)),
                                   unsigned(place->getInteger("character").value_or(0))}};
    }
  }

  /// Adds to an answer. Returns true if it added something.
  bool complete(json::Object &message) {
    if (message.getString("method") == llvm::StringRef("textDocument/publishDiagnostics"))
      return addRefusal(message);
    const json::Value *id = message.get("id");
    if (!id || !message.get("result"))
      return false;
    std::optional<Question> question;
    {
      std::lock_guard guard(mutex);
      if (auto found = questions.find(textOf(*id)); found != questions.end()) {
        question = std::move(found->second);
        questions.erase(found);
      }
    }
    return question &&
           (question->isHover ? addToHover(message, *question) : addToCompletion(message, *question));
  }

  bool addToHover(json::Object &message, const Question &question) {
    const std::string text = question.document->describe(question.place);
    if (text.empty())
      return false;
    std::string before;
    json::Object hover;
    if (const json::Object *known = message.getObject("result")) {
      hover = *known;
      if (const json::Object *contents = known->getObject("contents"))
        before = contents->getString("value").value_or("").str() + "\n\n---\n\n";
    }
    hover["contents"] = json::Object{{"kind", "markdown"}, {"value", before + text}};
    message["result"] = std::move(hover);
    return true;
  }

  bool addToCompletion(json::Object &message, const Question &question) {
    const std::vector<std::string> layers = question.document->completeLayers(question.place);
    if (layers.empty())
      return false;
    json::Array items;
    if (const json::Object *list = message.getObject("result"))
      if (const json::Array *known = list->getArray("items"))
        items = *known;
    for (const std::string &layer : layers)
      items.push_back(
          json::Object{{"label", layer}, {"kind", kValueItem}, {"detail", "layer of this module"}});
    message["result"] = json::Object{{"isIncomplete", false}, {"items", std::move(items)}};
    return true;
  }

  const mlir::DialectRegistry &registry;
  const int toServer;
  std::FILE *const fromServer;

  std::mutex output;                                          ///< guards the output to the editor
  std::mutex mutex;                                           ///< guards the members below
  std::map<std::string, std::shared_ptr<Document>> documents; ///< open texts by name
  std::map<std::string, Question> questions;                  ///< pending requests by id
  /// The reason why a text was not parsed, by name.
  std::map<std::string, std::string> refusals;
};

[[noreturn]] void failToStart(const char *what) {
  std::fprintf(stderr, "cgx-lsp-server: cannot start: %s: %s\n", what, std::strerror(errno));
  std::exit(EXIT_FAILURE);
}

} // namespace

int runBehindProxy(const mlir::DialectRegistry &registry, const std::function<int()> &server) {
  int requests[2], answers[2];
  if (pipe(requests) != 0 || pipe(answers) != 0)
    failToStart("pipe");
  const pid_t child = fork();
  if (child < 0)
    failToStart("fork");
  if (child == 0) {
    dup2(requests[0], STDIN_FILENO);
    dup2(answers[1], STDOUT_FILENO);
    for (int descriptor : {requests[0], requests[1], answers[0], answers[1]})
      close(descriptor);
    std::exit(server());
  }
  close(requests[0]);
  close(answers[1]);
  std::signal(SIGPIPE, SIG_IGN); // the editor or the server may end first
  Proxy proxy(registry, requests[1], fdopen(answers[0], "r"));
  std::thread reader([&] { proxy.handOnRequests(); });
  proxy.handOnAnswers();
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  // The editor may keep its end open after the server has ended, and nothing reads it any more.
  reader.detach();
  std::fflush(nullptr);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

} // namespace cgx::lsp
