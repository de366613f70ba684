// Pool of idle kernel workspaces.

// Threads end with a batch; reusing a workspace avoids page faults on its first tile.
template <class Kernel>
class WorkspacePool {
public:
    template <class Use>
    void use(const Use& use) {
        std::unique_ptr<Kernel> kernel;
        {
            std::lock_guard<Mutex> guard(lock_);
            if (!idle_.empty()) {
                kernel = std::move(idle_.back());
                idle_.pop_back();
            }
        }
        if (!kernel) kernel = std::make_unique<Kernel>();
        use(*kernel);
        if (kernel->bytes() > kMostBytes) return;
        std::lock_guard<Mutex> guard(lock_);
        idle_.push_back(std::move(kernel));
    }

private:
    static constexpr size_t kMostBytes = size_t{16} << 20;  // of a kernel that is kept
    Mutex lock_;
    std::vector<std::unique_ptr<Kernel>> idle_;
};
