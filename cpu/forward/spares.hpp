// Kernels that wait for their next tile.
//
// Include inside the namespace of a level.

// Kernels between two tiles. Threads end with their batch, and a kernel's first tile would pay for fresh memory.
template <class Kernel>
class Spares {
public:
    template <class Use>
    void use(const Use& use) {
        std::unique_ptr<Kernel> kernel;
        {
            std::lock_guard<Mutex> guard(lock_);
            if (!spare_.empty()) {
                kernel = std::move(spare_.back());
                spare_.pop_back();
            }
        }
        if (!kernel) kernel = std::make_unique<Kernel>();
        use(*kernel);
        if (kernel->bytes() > kMostBytes) return;
        std::lock_guard<Mutex> guard(lock_);
        spare_.push_back(std::move(kernel));
    }

private:
    static constexpr size_t kMostBytes = size_t{16} << 20;  // of a kernel that is kept
    Mutex lock_;
    std::vector<std::unique_ptr<Kernel>> spare_;
};
